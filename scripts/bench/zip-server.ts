/**
 * Baseline for ZIPs: npm's ZIP writers. `/zip?by=yazl&folder=…` responds with the files of a folder, uncompressed, with the fastest options of each
 * writer. No records, no permission checks, no stored checksums, no Content-Length.
 */
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import http, { type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { ZipFile } from 'yazl'
import ZipStream from 'zip-stream'

type Write = (folder: string, names: readonly string[], res: ServerResponse) => Promise<void> | void

const byYazl: Write = (folder, names, res) => {
  const zip = new ZipFile()
  zip.outputStream.pipe(res)
  for (const name of names) zip.addFile(join(folder, name), name, { compress: false })
  zip.end()
}

const byZipStream: Write = async (folder, names, res) => {
  const zip = new ZipStream({ store: true })
  zip.pipe(res)
  for (const name of names) {
    await new Promise<void>((resolve, reject) => {
      zip.entry(createReadStream(join(folder, name)), { name, store: true }, error => (error ? reject(error) : resolve()))
    })
  }
  zip.finish()
}

const writers: Readonly<Record<string, Write>> = { yazl: byYazl, 'zip-stream': byZipStream }

const answer = async (url: URL, res: ServerResponse): Promise<void> => {
  if (url.pathname === '/healthz') {
    res.end('healthy')
    return
  }
  const folder = url.searchParams.get('folder') ?? ''
  const write = writers[url.searchParams.get('by') ?? '']
  if (!write) throw new Error(`no such writer: ${url.search}`)
  res.writeHead(200, { 'content-type': 'application/zip' })
  await write(folder, (await readdir(folder)).toSorted(), res)
}

const server = http.createServer((req, res) => {
  answer(new URL(req.url ?? '', 'http://bench'), res).catch((error: unknown) => res.destroy(error as Error))
})
server.listen(Number(process.env['POUNCE_HTTP__PORT']), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
