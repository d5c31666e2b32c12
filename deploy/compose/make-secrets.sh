#!/bin/sh
# Makes the passwords of docker-compose.temporal.yml that are not there yet, and says which files only you can make.
# Changes nothing that is there.
# A container sees a file with its mode on this machine, and runs as a user that this machine does not have: so the
# files can be read by all, and their folder
# can be entered by you alone.
set -eu
folder=$(dirname "$0")/secrets
mkdir -p "$folder"
chmod 700 "$folder"
for name in postgres-password grafana-password; do
  [ -e "$folder/$name" ] && continue
  od -An -N24 -tx1 /dev/urandom | tr -d ' \n' > "$folder/$name"
  echo "made $folder/$name"
done
for name in lane-ethereum-1 lane-avalanche-1; do
  for file in "$name-keystore.json" "$name-password"; do
    [ -e "$folder/$file" ] || echo "missing $folder/$file: portage keystore new --out (docs/operate/deploy/compose.md)"
  done
done
find "$folder" -type f -exec chmod 444 {} +
