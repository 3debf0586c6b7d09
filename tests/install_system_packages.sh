#!/usr/bin/env bash
# Debian packages that tests alone need: a browser that opens the report, and a SLURM. Says what it installs.
set -euo pipefail
missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v munged >/dev/null || missing+=(munge)
command -v slurmctld >/dev/null || missing+=(slurm-wlm)
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "Tests need ${missing[*]}, and only root can install them with apt-get: the tests that use them are skipped." >&2
  exit 0
fi
echo "Installing for the tests: ${missing[*]}"
apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
