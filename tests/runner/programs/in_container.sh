# Inside of a container: what a program reaches without the cage and in it. Prints a line before each answer.
cd /work
python3 /probe/reach.py listen /outside &
until test -e /outside/ready; do sleep 0.05; done
echo CONTROL
python3 /probe/reach.py leak /outside python3 /probe/reach.py try /outside
sleep 0.3
rm -f /outside/contacts /outside/written
echo CAGED
python3 /probe/reach.py leak /outside /gate/bashgate-run exec --cage -- 'python3 /probe/reach.py try /outside' 2>/outside/said
sleep 0.3
echo CONTACTS
cat /outside/contacts
echo LEFT
/gate/bashgate-run exec --cage -- 'setsid sleep 4711 & (setsid sleep 4711 &) & sleep 0.1' 2>/dev/null
sleep 0.2
cat /proc/[0-9]*/cmdline 2>/dev/null | grep -c -a '471[1]' || true
echo WORK
/gate/bashgate-run exec --cage -- 'python3 -c "import multiprocessing; p = multiprocessing.Pool(2); print(sum(p.map(abs, range(4))))" > made; cat made' 2>/dev/null
echo DOCTOR
/gate/bashgate-run doctor --json
