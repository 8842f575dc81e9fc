#!/bin/bash
# clamd of Debian (apt-get install clamav-daemon) on TCP, with one signature of our own: that of the EICAR text. The databases of ClamAV
# are large and not available everywhere. Same usage as the scripts in SVC, whose _common.sh it needs.
. "${SVC:?the folder of the service scripts}/_common.sh"
do_install() { [ -x /usr/sbin/clamd ] || die "missing: apt-get install clamav-daemon"; }
do_start() {
  mkdir -p "$DIR/db" "$DIR/tmp"
  printf 'Eicar-Test-Signature:0:*:%s\n' \
    "$(printf '%s%s' 'X5O!P%@AP[4\PZX54(P^)7CC)7}' '$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*' | od -An -tx1 | tr -d ' \n')" >"$DIR/db/eicar.ndb"
  cat >"$DIR/clamd.conf" <<C
DatabaseDirectory $DIR/db
TemporaryDirectory $DIR/tmp
PidFile $DIR/clamd.pid
TCPSocket $PORT
TCPAddr 127.0.0.1
Foreground yes
User $(id -un)
StreamMaxLength 50M
MaxFileSize 50M
MaxScanSize 200M
C
  launch "$DIR" /usr/sbin/clamd -c "$DIR/clamd.conf"
  wait_for "$DIR" 30 port_open "$PORT"
  URL="tcp://127.0.0.1:$PORT"
}
svc_main "$@"
