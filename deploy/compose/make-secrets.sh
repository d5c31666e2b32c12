#!/bin/sh
# Creates the missing passwords of docker-compose.temporal.yml, and lists the files that only you can create. Changes no
# existing file. The user of the containers does not exist on this machine, so everybody may read the files, but only
# you may enter the folder.
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
