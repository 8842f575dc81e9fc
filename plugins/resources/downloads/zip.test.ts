import { createHash, randomBytes, randomInt } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import test from 'ava'
import { BufferStream } from 'pounce/sdk/kit'
import { type Entry, fromBuffer, type ZipFile } from 'yauzl'
import { ZipWithKnownLength, zip } from './zip.ts'
import type { ZipEntry } from './zip-members.ts'

const entry = (path: string, bytes: Buffer, more: Partial<ZipEntry> = {}): ZipEntry => ({
  path,
  sizeBytes: bytes.length,
  modified: new Date('2024-02-29T13:14:16Z'),
  open: async () => Readable.from([bytes.subarray(0, bytes.length >> 1), bytes.subarray(bytes.length >> 1)]),
  ...more,
})

const zipLength = (entries: readonly ZipEntry[]): number => new ZipWithKnownLength(entries).sizeBytes

/** Written by both implementations, which must produce the same bytes. */
const written = async (entries: readonly ZipEntry[]): Promise<Buffer> => {
  const [along, known] = [await buffer(zip([entries])), await buffer(new ZipWithKnownLength(entries).pieces())]
  if (!along.equals(known)) throw new Error('the implementations produced different bytes')
  return known
}

const open = (archive: Buffer): Promise<ZipFile> =>
  new Promise((resolve, reject) => {
    fromBuffer(archive, { lazyEntries: true, strictFileNames: true }, (error, file) => (error ? reject(error) : resolve(file)))
  })

/** The members listed in the directory, in order. */
const membersOf = async (archive: Buffer): Promise<readonly Entry[]> => {
  const file = await open(archive)
  const members: Entry[] = []
  return new Promise((resolve, reject) => {
    file.on('error', reject)
    file.on('end', () => resolve(members))
    file.on('entry', (member: Entry) => {
      members.push(member)
      file.readEntry()
    })
    file.readEntry()
  })
}

/** The bytes of a member; throws when their length or checksum is wrong. */
const bytesOf = async (archive: Buffer, member: Entry): Promise<Buffer> => {
  const file = await open(archive)
  const stream = await new Promise<Readable>((resolve, reject) => {
    file.openReadStream(member, (error, stream) => (error ? reject(error) : resolve(stream)))
  })
  const bytes = await buffer(stream)
  if (crc32(bytes) !== member.crc32) throw new Error(`${member.fileName}: the checksum is wrong`)
  return bytes
}

test('files of any length and name are read back unchanged', async t => {
  const sizes = [0, 1, 65_535, 65_536, 65_537, 300_000]
  const files = sizes.map(size => ({ path: `größe – 観測/${size}.bin`, bytes: randomBytes(size) }))
  const entries = files.map(({ path, bytes }) => entry(path, bytes))
  const archive = await written(entries)
  t.is(archive.length, zipLength(entries))
  const members = await membersOf(archive)
  t.deepEqual(
    members.map(member => member.fileName),
    files.map(file => file.path),
  )
  for (const [at, member] of members.entries()) {
    t.deepEqual(await bytesOf(archive, member), files[at]?.bytes, member.fileName)
  }
})

test('entries in batches of any size produce the same bytes', async t => {
  const entries = Array.from({ length: 60 }, (_, n) => {
    const bytes = randomBytes(n % 20 === 7 ? 70_000 : n * 50)
    return entry(`${n}.bin`, bytes, n % 2 === 0 ? {} : { open: async () => new BufferStream(bytes) })
  })
  const whole = await written(entries)
  for (const size of [1, 3, 8, 9, 59]) {
    const batches: ZipEntry[][] = [[]]
    for (let at = 0; at < entries.length; at += size) batches.push(entries.slice(at, at + size))
    t.true((await buffer(zip(batches))).equals(whole), `${size}`)
  }
})

test('an empty archive is valid', async t => {
  const archive = await written([])
  t.is(archive.length, zipLength([]))
  t.deepEqual(await membersOf(archive), [])
})

test('members have their modification time in UTC and the mode of a regular file', async t => {
  const archive = await written([entry('a/small.txt', Buffer.from('small')), entry('large.bin', randomBytes(200_000))])
  const members = await membersOf(archive)
  t.deepEqual(
    members.map(member => [
      member.fileName,
      member.getLastModDate({ timezone: 'UTC' }).toISOString(),
      member.externalFileAttributes >>> 16,
    ]),
    ['a/small.txt', 'large.bin'].map(path => [path, '2024-02-29T13:14:16.000Z', 0o100644]),
  )
})

test('an archive with more than 65,535 members uses ZIP64', async t => {
  const entries = Array.from({ length: 70_000 }, (_, n) => entry(`f${n}`, Buffer.from(String(n))))
  const archive = await written(entries)
  t.is(archive.length, zipLength(entries))
  const members = await membersOf(archive)
  t.is(members.length, 70_000)
  t.is(String(await bytesOf(archive, members[69_999] as Entry)), '69999')
})

/** A large member without a large file: one buffer, repeated. */
const huge = (path: string, blocks: number, block: Buffer): ZipEntry =>
  entry(path, Buffer.alloc(0), {
    sizeBytes: blocks * block.length,
    open: async () =>
      Readable.from(
        (function* () {
          for (let n = 0; n < blocks; n++) yield block
        })(),
        { highWaterMark: 1 },
      ),
  })

test('members and offsets beyond 4 GiB have 64-bit fields', async t => {
  t.timeout(60_000)
  const block = Buffer.alloc(1 << 22, 7)
  const entries = [huge('big.bin', 1025, block), entry('after.txt', Buffer.from('behind'))]
  const total = zipLength(entries)
  const tailLength = 1000
  let tail: Buffer = Buffer.alloc(0)
  let length = 0
  for await (const piece of zip([entries])) {
    length += piece.length
    tail = (piece.length > tailLength ? piece : Buffer.concat([tail, piece])).subarray(-tailLength)
  }
  t.is(length, total)
  const at = total - tail.length
  const directory = tail.indexOf(Buffer.from('PK\u0001\u0002', 'latin1'))
  t.is(tail.readUInt32LE(directory + 20), 0xffff_ffff)
  const extra = directory + 46 + 'big.bin'.length
  t.is(tail.readUInt16LE(extra), 1)
  t.is(tail.readBigUInt64LE(extra + 4), 1025n << 22n)
  const second = tail.indexOf(Buffer.from('PK\u0001\u0002', 'latin1'), directory + 4)
  t.is(tail.readUInt32LE(second + 42), 0xffff_ffff)
  const local = Number(tail.readBigUInt64LE(second + 46 + 'after.txt'.length + 4)) - at
  t.is(tail.readUInt32LE(local), 0x04034b50)
  const end64 = tail.indexOf(Buffer.from('PK\u0006\u0006', 'latin1'))
  t.is(Number(tail.readBigUInt64LE(end64 + 48)) - at, directory)
})

test('a stream that is too short, too long or fails ends the archive with an error', async t => {
  const bytes = randomBytes(100_000)
  const faults: readonly ZipEntry[] = [
    entry('short', bytes, { sizeBytes: 100_001 }),
    entry('long', bytes, { sizeBytes: 99_999 }),
    entry('small and short', bytes.subarray(0, 10), { sizeBytes: 11 }),
    entry('small and long', bytes.subarray(0, 10), { sizeBytes: 9 }),
    entry('buffer too short', bytes, { sizeBytes: 11, open: () => bytes.subarray(0, 10) }),
    entry('stream of a buffer too long', bytes, { sizeBytes: 9, open: async () => new BufferStream(bytes.subarray(0, 10)) }),
    entry('not there', bytes, { open: () => Promise.reject(new Error('gone')) }),
    entry('small and not there', Buffer.alloc(1), { open: () => Promise.reject(new Error('gone')) }),
    entry('breaks off', bytes, {
      open: async () =>
        Readable.from(
          (function* () {
            yield bytes.subarray(0, 10)
            throw new Error('broken')
          })(),
        ),
    }),
  ]
  for (const fault of faults) {
    await t.throwsAsync(written([entry('fine', bytes), fault, entry('never', bytes)]), undefined, fault.path)
  }
})

test('ending a read early closes open streams', async t => {
  const source = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(65_536)
    })(),
  )
  const pieces = zip([[entry('endless', Buffer.alloc(0), { sizeBytes: 2 ** 40, open: async () => source })]])
  let seen = 0
  for await (const piece of pieces) {
    seen += piece.length
    if (seen > 1_000_000) break
  }
  t.true(source.destroyed)
})

test('a range of an archive has the same bytes as the whole', async t => {
  const sizes = [10, 100_000, 0, 70_000, 65_536, 5, 65_537]
  const entries = sizes.map((size, at) => entry(`${at}.bin`, randomBytes(size)))
  const whole = await written(entries)
  const places = Array.from({ length: 100 }, () => [randomInt(whole.length), randomInt(whole.length)].sort((a, b) => a - b))
  const last = whole.length - 1
  for (const [start = 0, end = 0] of [[0, 0], [0, last], [last, last], [150_000, last], [last - 22, last], ...places]) {
    const part = await buffer(new ZipWithKnownLength(entries).pieces({ start, end }))
    t.true(part.equals(whole.subarray(start, end + 1)), `${start}-${end}`)
  }
})

test('a range before the directory opens only the entries in it', async t => {
  const opened: string[] = []
  const watched = ['a', 'b', 'c'].map(path =>
    entry(path, randomBytes(100_000), {
      open: async () => {
        opened.push(path)
        return randomBytes(100_000)
      },
    }),
  )
  const part = await buffer(new ZipWithKnownLength(watched).pieces({ start: 150_000, end: 150_009 }))
  t.is(part.length, 10)
  t.deepEqual(opened, ['b'])
})

test('entries before a range are not read if their checksums are known', async t => {
  const opened: string[] = []
  const entries = ['a', 'b', 'c'].map(path => {
    const bytes = Buffer.from(path.repeat(100_000))
    return entry(path, bytes, {
      checksum: async () => crc32(bytes),
      open: async () => {
        opened.push(path)
        return bytes
      },
    })
  })
  const whole = await written(entries)
  opened.length = 0
  const start = 250_000
  const rest = await buffer(new ZipWithKnownLength(entries).pieces({ start, end: whole.length - 1 }))
  t.true(rest.equals(whole.subarray(start)))
  t.deepEqual(opened, ['c'])
  for (const member of await membersOf(whole)) t.is((await bytesOf(whole, member)).length, 100_000)
})

test.serial('an archive of 512 MiB is written with less than 48 MiB of buffers', async t => {
  t.timeout(60_000)
  const block = randomBytes(1 << 20)
  const entries = Array.from({ length: 8 }, (_, n) => huge(`part ${n}`, 64, block))
  const hash = createHash('sha1')
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  for await (const piece of Readable.from(zip([entries]), { highWaterMark: 4 })) {
    hash.update(piece.subarray(0, 1))
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }
  t.true(most < 48 << 20, `${most} bytes`)
})
