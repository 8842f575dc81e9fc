import test from 'ava'
import { DocumentStore } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { send, thumbnailOf } from '../../../../test/support/derived.ts'
import { upload } from '../../../../test/support/scene.ts'
import { newDataset, somebody } from '../../../../test/support/spaces-and-people.ts'
import { thumbnails } from '../collections.ts'
import { up } from './0001-time-of-attachment.ts'

test('attached thumbnails without a time of attachment get that of their creation, each another one; a second run changes nothing', async t => {
  const server = await bootForTest({ t })
  const ann = await somebody(server, 'ann')
  const documents = server.get(DocumentStore)
  const file = await upload(ann.call, await newDataset(ann))
  const created = '2026-01-01T00:00:00.000Z'
  const old: string[] = []
  for (const time of ['2026-01-01T00:00:00.005Z', created, created]) {
    const id = await thumbnailOf(ann, `/api/files/${file}`)
    await documents.commit({ update: id, in: thumbnails, set: { created: time }, unset: ['attached'] })
    old.push(id)
  }
  const current = await thumbnailOf(ann, `/api/files/${file}`)
  const unattached = await send(ann, '/api/fileThumbnail')
  const times = async () => {
    const found = await documents.getMany(thumbnails, [...old, current, unattached])
    return [...old, current, unattached].map(id => found.get(id)?.attached)
  }
  const [, , , attached] = await times()
  for (let twice = 0; twice < 2; twice += 1) {
    await up(documents)
    const [last, ...others] = await times()
    t.is(last, '2026-01-01T00:00:00.005Z')
    t.deepEqual(others.slice(0, 2).sort(), [created, '2026-01-01T00:00:00.001Z'])
    t.deepEqual(others.slice(2), [attached, null])
  }
})
