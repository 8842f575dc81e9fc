import { readdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { adminKey, childServer, dataFolder } from './support/child-server.ts'
import { newDataset, upload } from './support/scene.ts'

test('no log line contains the token of a link, even if its download fails', async t => {
  const folder = await dataFolder(t)
  const server = await childServer(t, folder, { POUNCE_LOG__LEVEL: 'debug' })
  const call = server.as(await adminKey(server))
  const file = await upload(call, await newDataset(call), 'by link')
  const { link } = (await (await call(`/files/${file}/links`, { method: 'POST' })).json()) as { link: string }
  const { pathname } = new URL(link)
  const token = pathname.split('/').at(-1) ?? ''
  const nobody = server.as()
  t.is((await nobody(pathname)).status, 200)
  const escaped = `/files/links/%${token.charCodeAt(0).toString(16)}${token.slice(1)}`
  t.is((await nobody(escaped)).status, 200)
  for (const path of [`/files/%6Cinks/${token}`, `${pathname}/`, `${pathname}/x`, `/api${pathname}`, `${pathname}?token=${token}&key=x`])
    await (await nobody(path)).text()
  for (const found of await readdir(join(folder, 'blobs'), { recursive: true, withFileTypes: true }))
    if (found.isFile()) await truncate(join(found.parentPath, found.name))
  t.true((await (await nobody(pathname)).text().catch(() => 'broke off')) !== 'by link')
  server.signal('SIGTERM')
  const { out, err } = await server.ended
  const printed = out + err
  t.regex(printed, /\/files\/links\/\[hidden\]/)
  t.false(printed.includes(token.slice(1)))
})
