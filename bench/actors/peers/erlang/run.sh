#!/bin/sh
# Runs one workload on the compiled modules: run.sh <directory of .beam files> <workload>.
set -eu
threads=${THREADS:-2}
exec erl -noshell +S "$threads:$threads" +P 4000000 -pa "$1" -run bench_main main "$2"
