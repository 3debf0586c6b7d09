#!/usr/bin/env bash
# A SLURM of one node for the tests: munge, controller and node daemon as Debian packages them, without systemd,
# without cgroups, with GPUs that are only asked for.
#   cluster.sh start | stop | stop-controller | start-controller
# Needs root and the packages munge and slurm-wlm. Everything lies in CLUSTER_DIR; the daemons listen on loopback.
set -euo pipefail
DIR=${CLUSTER_DIR:-/tmp/beyondqa-cluster}
PORT=${CLUSTER_PORT:-26817}
CPUS=${CLUSTER_CPUS:-8} MEMORY_MB=${CLUSTER_MEMORY_MB:-64000} GPUS=${CLUSTER_GPUS:-2}
NODE=$(hostname -s)

die() { echo "cluster: $*" >&2; exit 1; }

spawn() { # NAME COMMAND...: a daemon in its own session, its process id in run/NAME.pid
  setsid "${@:2}" >>"$DIR/log/$1.txt" 2>&1 </dev/null &
  echo $! >"$DIR/run/$1.pid"
}

finish() { # NAME: end a daemon and wait until it is gone
  local file=$DIR/run/$1.pid pid
  [ -s "$file" ] || return 0
  pid=$(<"$file")
  kill "$pid" 2>/dev/null || true
  for _ in {1..100}; do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
  kill -9 "$pid" 2>/dev/null || true
  rm -f "$file"
}

until_true() { # SECONDS WHAT COMMAND...
  local end=$((SECONDS + $1)) what=$2
  shift 2
  while ((SECONDS < end)); do timeout 5 "$@" >/dev/null 2>&1 && return 0; sleep 0.2; done
  tail -n 20 "$DIR"/log/* >&2
  die "gave up waiting for $what"
}

configure() {
  mkdir -p "$DIR"/{run,log,state,spool,dev} /etc/slurm
  chmod 755 "$DIR" "$DIR/run"
  # sbatch and srun resolve the node's own name.
  getent hosts "$NODE" >/dev/null || echo "127.0.1.1 $NODE" >>/etc/hosts
  [ -s "$DIR/munge.key" ] || (umask 077 && head -c 1024 /dev/urandom >"$DIR/munge.key")
  # Device nodes that swallow everything: SLURM hands out their numbers as CUDA_VISIBLE_DEVICES.
  for ((i = 0; i < GPUS; i++)); do [ -e "$DIR/dev/gpu$i" ] || mknod "$DIR/dev/gpu$i" c 1 3; done
  echo "NodeName=$NODE Name=gpu Type=h200 File=$DIR/dev/gpu[0-$((GPUS - 1))]" >"$DIR/gres.conf"
  cat >"$DIR/slurm.conf" <<END
ClusterName=beyondqa-test
SlurmctldHost=$NODE(127.0.0.1)
SlurmctldPort=$PORT
SlurmdPort=$((PORT + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$DIR/run/munge.socket
StateSaveLocation=$DIR/state
SlurmdSpoolDir=$DIR/spool
SlurmctldPidFile=$DIR/run/slurmctld.self
SlurmdPidFile=$DIR/run/slurmd.self
SlurmctldLogFile=$DIR/log/slurmctld.txt
SlurmdLogFile=$DIR/log/slurmd.txt
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
MpiDefault=none
MailProg=/bin/true
AccountingStorageType=accounting_storage/none
# Memory limits are enforced by sampling, since there are no cgroups.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
JobAcctGatherParams=OverMemoryKill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1,sched_interval=5,bf_interval=5
MinJobAge=300
KillWait=5
ReturnToService=2
SlurmdTimeout=300
# The node may claim more cores and memory than the machine has.
SlurmdParameters=config_overrides
GresTypes=gpu
# Jobs of the first two partitions take the place of jobs of the others.
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=$NODE NodeAddr=127.0.0.1 CPUs=$CPUS RealMemory=$MEMORY_MB Gres=gpu:h200:$GPUS State=UNKNOWN
PartitionName=cpu Nodes=$NODE Default=YES MaxTime=2-00:00:00 PriorityTier=2 State=UP
PartitionName=gpu Nodes=$NODE MaxTime=2-00:00:00 PriorityTier=2 State=UP
PartitionName=requeued Nodes=$NODE MaxTime=2-00:00:00 PriorityTier=1 PreemptMode=REQUEUE State=UP
PartitionName=cancelled Nodes=$NODE MaxTime=2-00:00:00 PriorityTier=1 PreemptMode=CANCEL State=UP
PartitionName=graceful Nodes=$NODE MaxTime=2-00:00:00 PriorityTier=1 PreemptMode=REQUEUE GraceTime=10 State=UP
END
  # The jobs' inner srun is started without SLURM_CONF and looks here alone.
  local file
  for file in slurm.conf gres.conf; do
    [ ! -e "/etc/slurm/$file" ] || [ -L "/etc/slurm/$file" ] || die "/etc/slurm/$file is there already; this machine has a SLURM of its own"
    ln -sfn "$DIR/$file" "/etc/slurm/$file"
  done
}

start_controller() {
  spawn slurmctld slurmctld -D "$@"
  until_true 30 "the controller" scontrol ping
}

case ${1:-} in
start)
  [ "$(id -u)" = 0 ] || die "needs root"
  for program in munged slurmctld slurmd sbatch; do
    command -v "$program" >/dev/null || die "$program is missing: apt-get install --no-install-recommends munge slurm-wlm"
  done
  if [ -e "$DIR/run/owner" ]; then
    # One that nobody owns any more was left by tests that were killed.
    kill -0 "$(<"$DIR/run/owner")" 2>/dev/null && die "process $(<"$DIR/run/owner") uses the one in $DIR"
    "$0" stop
  fi
  configure
  echo "${CLUSTER_OWNER:-$PPID}" >"$DIR/run/owner"
  spawn munged munged --foreground --force --key-file="$DIR/munge.key" --socket="$DIR/run/munge.socket" \
    --pid-file="$DIR/run/munged.self" --seed-file="$DIR/run/munged.seed" --log-file="$DIR/log/munged.txt"
  until_true 10 munge bash -c "munge -n -S '$DIR/run/munge.socket' | unmunge -S '$DIR/run/munge.socket'"
  start_controller -i
  spawn slurmd slurmd -D -N "$NODE"
  until_true 30 "an idle node" bash -c "sinfo -h -o %T | grep -q idle"
  until_true 30 "a job with a GPU" srun -n1 --gpus=1 -t 1 true
  ;;
stop-controller) finish slurmctld ;;
start-controller) start_controller ;;
stop)
  if timeout 5 scancel --user=root 2>/dev/null; then
    for _ in {1..60}; do [ -z "$(timeout 5 squeue --noheader 2>/dev/null)" ] && break; sleep 0.5; done
  fi
  for daemon in slurmd slurmctld munged; do finish "$daemon"; done
  for file in slurm.conf gres.conf; do
    if [ "$(readlink "/etc/slurm/$file")" = "$DIR/$file" ]; then rm -f "/etc/slurm/$file"; fi
  done
  rm -rf "$DIR"
  ;;
*)
  sed -n '2,5p' "$0"
  exit 2
  ;;
esac
