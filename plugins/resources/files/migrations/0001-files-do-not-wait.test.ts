import test from 'ava'
import { DocumentStore, Files } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { newPerson } from '../../../../test/support/people.ts'
import { newDataset, upload } from '../../../../test/support/scene.ts'
import { files } from '../collection.ts'
import { up } from './0001-files-do-not-wait.ts'

test('files that waited for their jobs become PROCESSED; others are unchanged, and a second run changes nothing', async t => {
  const server = await bootForTest({ t })
  const ann = await newPerson(server, 'ann')
  const dataset = await newDataset(ann.call)
  const documents = server.get(DocumentStore)
  const old = async (set: object): Promise<string> => {
    const id = await upload(ann.call, dataset)
    await documents.commit({ update: id, in: files, set: { ...set } })
    return id
  }
  const ids = [
    await old({ status: 'CREATED', pendingJobs: ['j'.repeat(24)] }),
    await old({ status: 'CREATED', pendingJobs: [] }),
    await old({ status: 'ARCHIVED', pendingJobs: ['j'.repeat(24)] }),
    await old({ status: 'CREATED' }),
  ]
  for (let twice = 0; twice < 2; twice++) await up(documents)
  const now = await server.get(Files).getMany(ids)
  t.deepEqual(
    ids.map(id => now.get(id)?.status),
    ['PROCESSED', 'CREATED', 'ARCHIVED', 'CREATED'],
  )
})
