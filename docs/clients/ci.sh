#!/bin/bash
# What the CI of a client may do with the simulated robot: start it on a free port, wait for its URL, run tests against
# it, play a fault, stop it. Run it where the package is installed: npm install --save-dev ./trunnion-VERSION.tgz
set -euo pipefail
[ "${1:-}" != --help ] || { echo 'ci.sh starts a simulated robot, calls it, plays a fault and stops it'; exit; }
PATH=$PWD/node_modules/.bin:$PATH

work=$(mktemp -d)
# It may be read before the robot has begun to write it.
touch "$work/log"
trunnion-sim --port 0 --state "$work/state" > "$work/log" &
robot=$!
trap 'kill "$robot" 2> /dev/null || true; rm -rf "$work"' EXIT

# Its log is JSON lines; the one that has a URL says that it listens.
url=
until [ -n "$url" ]; do
  url=$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' "$work/log")
  kill -0 "$robot" 2> /dev/null || { cat "$work/log" >&2; exit 1; }
  sleep 0.1
done
echo "the robot is at $url"

json='Content-Type: application/json'
post() { curl -sSf -m 5 -H "$json" -d "$2" "$url$1"; }
# The status code alone, for what is expected to be refused.
code() { curl -sS -m 5 -o /dev/null -w '%{http_code}' -H "$json" -d "$2" "$url$1"; }

# Your own tests come here, as: ROBOT_URL=$url npm test
[ "$(post /api/gimbal/mode/switch '{"mode":"auto"}')" = '{"mode":"auto"}' ]

# How does your client bear a controller that has lost its cable? The call is refused, and the robot says so.
post /sim/faults '{"target":"gimbal","fault":"unplug"}' > /dev/null
[ "$(code /api/gimbal/mode/switch '{"mode":"manual"}')" = 503 ]
post /sim/faults '{"target":"gimbal","fault":"plug"}' > /dev/null
until [ "$(code /api/gimbal/mode/switch '{"mode":"manual"}')" = 200 ]; do sleep 0.2; done

kill "$robot"
wait "$robot"
echo 'the robot was asked, unplugged, plugged in again and stopped'
