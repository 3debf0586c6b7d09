"""Quality of the normalised data sets: duplicates within and across them, and faults of single items."""
