#!/bin/sh
# Makes a fleet of three hosts and two desks in a folder, to be started there with `docker compose up -d`.
# Usage: setup.sh DIR
# What it needs: docker with compose (or podman as docker), openssl, and the image of packaging/Containerfile.host.
set -eu
[ $# = 1 ] || { echo "usage: $0 DIR" >&2; exit 64; }
[ ! -e "$1" ] || { echo "$1 is there already; name a folder that is not" >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
hosts="host-1 host-2 host-3"
desks="desk-1 desk-2"
# Where the database is, as the containers see it.
database=${FLEET_DATABASE:-postgres://boss@db/fleet}

mkdir -p "$1"
chmod 700 "$1"
cd "$1"
cp "$here/compose.yaml" .
# Each belongs to the user of its container.
# shellcheck disable=SC2086 # a list of words
for folder in fleet certs $hosts $desks; do
    mkdir -m 700 "$folder"
done
openssl rand -hex 24 >word
chmod 644 word

echo "1. certificates"
(
    cd certs
    chmod 755 .
    printf 'subjectAltName=DNS:db,IP:127.0.0.1\n' >names
    key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    # shellcheck disable=SC2086 # a list of words
    openssl req -x509 $key -days 3650 -keyout ca.key -out ca.pem -subj "/CN=the fleet's own issuer" 2>/dev/null
    # shellcheck disable=SC2086 # the same
    openssl req $key -keyout server.key -out server.csr -subj /CN=db 2>/dev/null
    openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 3650 -extfile names -out server.pem 2>/dev/null
    # Nobody signs another one with it.
    rm -f ca.key ca.srl server.csr names
    cp ca.pem ../fleet/
)
if [ "$(id -u)" = 0 ]; then
    # shellcheck disable=SC2086 # a list of words
    chown -R 1000:1000 fleet $hosts $desks
else
    # The containers run as whoever owns the folders.
    echo "BASHGATE_USER=$(id -u):$(id -g)" >.env
fi

run() { # service, words: in its container
    docker compose run --rm --no-deps -T "$@"
}

echo "2. the database"
docker compose up -d --wait db
echo "3. the fleet"
PGPASSWORD=$(cat word)
export PGPASSWORD
docker compose run --rm --no-deps -T -e PGPASSWORD fleet init "$database" --ca /fleet/ca.pem --folder /fleet
for host in $hosts; do
    echo "4. $host"
    run "$host" init /gate
    run fleet enrol "$host" --no-wait --to "/fleet/$host.token" --folder /fleet
    mv "fleet/$host.token" "$host/"
    run --entrypoint bashgate-fleet "$host" join "/gate/$host.token" --config /gate/bashgate.toml
    rm "$host/$host.token"
done
for desk in $desks; do
    echo "5. $desk"
    run fleet enrol "$desk" --desk --no-wait --to "/fleet/$desk.token" --folder /fleet
    mv "fleet/$desk.token" "$desk/"
    run "$desk" desk --folder /desk join "/desk/$desk.token"
    rm "$desk/$desk.token"
done
run fleet list --folder /fleet
cat <<END

Done. In $(pwd):
  - name the desks' channels in desk-1/desk.toml and desk-2/desk.toml, the same in both (docs/chat.md),
  - put the lines that the desks have said above into host-1/bashgate.toml and its like, with the accounts of who may answer,
  - docker compose up -d
  - docker compose exec fleet bashgate-fleet list --folder /fleet
END
