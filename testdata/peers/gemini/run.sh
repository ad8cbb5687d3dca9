#!/usr/bin/env bash
# Starts the real Gemini CLI A2A server 0.25.2 (npm) with a scripted model on loopback, prints
# "ready URL WORKSPACE" and stays until its stdin ends or it is signalled; then both processes are gone.
#   run.sh DIR [PORT [MODELPORT [RUNDIR]]]
#     DIR: where to install (created); needs node >= 20 and npm
#     RUNDIR: for the server's home, logs and its own workspace; DIR, if it is not given
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$1; port=${2:-41242}; fake=${3:-$((port + 1))}; run=${4:-$dir}
mkdir -p "$dir" "$run/home" "$run/ws"; dir=$(cd "$dir" && pwd); run=$(cd "$run" && pwd)
cp "$here/package.json" "$dir/"
# npm writes .package-lock.json when everything is there.
[ -f "$dir/node_modules/.package-lock.json" ] || (cd "$dir" && npm install --no-audit --no-fund --silent >&2)
printf 'alpha\nbeta\n' > "$run/ws/edit.txt"
git config --file "$run/home/.gitconfig" user.email peer@example.invalid
git config --file "$run/home/.gitconfig" user.name peer
FAKE_PORT=$fake FAKE_WS="$run/ws" FAKE_LOG=${FAKE_LOG:-} node "$here/fake-gemini.mjs" > "$run/fake.log" 2>&1 < /dev/null & f=$!
(cd "$run/ws" && exec env -i PATH="$PATH" HOME="$run/home" LANG=C.UTF-8 TERM=dumb TMPDIR="${TMPDIR:-/tmp}" GEMINI_API_KEY=fake \
  GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:$fake" CODER_AGENT_PORT="$port" GEMINI_TELEMETRY_ENABLED=false \
  node "$dir/node_modules/@google/gemini-cli-a2a-server/dist/a2a-server.mjs") > "$run/server.log" 2>&1 < /dev/null & s=$!
trap 'kill $f $s 2>/dev/null || true' EXIT INT TERM
for _ in $(seq 1 600); do
  curl -sf -o /dev/null "http://localhost:$port/.well-known/agent-card.json" && break
  kill -0 $s 2>/dev/null || { echo "the server ended: see $run/server.log" >&2; exit 1; }
  sleep 0.1
done
echo "ready http://localhost:$port $run/ws"
cat > /dev/null || true
