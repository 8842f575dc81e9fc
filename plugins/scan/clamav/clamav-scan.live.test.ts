import { Readable } from 'node:stream'
import test from 'ava'
import { Unavailable } from 'pounce/sdk'
import { eicar, liveTests, malwareScanContract } from 'pounce/sdk/testing'
import { fakeClamd, scannerAt } from './fake-clamd.ts'

const { test: live, url } = liveTests(test, 'CLAMAV')

malwareScanContract(live, {
  scanner: async () => scannerAt(url('CLAMAV')),
  async unreachable(t) {
    const { socket, stop } = await fakeClamd(t)
    await stop()
    return scannerAt(socket)
  },
})

live('clamd answers PING and VERSION', async t => {
  const scanner = scannerAt(url('CLAMAV'))
  await t.notThrowsAsync(scanner.health())
  t.regex(await scanner.version(), /^ClamAV \d/)
})

live('a stream longer than the StreamMaxLength of clamd is not scanned', async t => {
  const pieces = function* () {
    for (let at = 0; at < 101; at++) yield Buffer.alloc(1024 * 1024)
    yield eicar
  }
  // clamd closes the connection after its reply, and over TCP the reset can overtake the reply. The outbox retries, too.
  const scanned = async (tries: number): Promise<string> => {
    try {
      return (await scannerAt(url('CLAMAV'), { maxScanMiB: 4000 }).scan(Readable.from(pieces(), { objectMode: false }))).state
    } catch (error) {
      if (tries > 1 && error instanceof Unavailable) return scanned(tries - 1)
      throw error
    }
  }
  t.is(await scanned(10), 'skipped')
})
