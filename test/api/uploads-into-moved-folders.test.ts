import test, { type ExecutionContext } from 'ava'
import { type BlobStore, DocumentStore, event, Files, Folders } from 'pounce/sdk'
import { bootForTest, type TestFetch } from 'pounce/sdk/testing'
import { folders } from '../../plugins/resources/folders/collection.ts'
import { embeddedStores } from '../support/embedded-stores.ts'
import { overridesOf, pluginsOnStores } from '../support/faulty-stores.ts'
import { newDataset, newFolder, ok, upload } from '../support/scene.ts'

/** Holds back the next insert into a collection. */
class HeldInsert {
  #into: string | undefined
  #reached = Promise.withResolvers<void>()
  #released = Promise.withResolvers<void>()

  /** Resolves when the insert is reached. */
  next(into: string): Promise<void> {
    this.#into = into
    this.#reached = Promise.withResolvers()
    this.#released = Promise.withResolvers()
    return this.#reached.promise
  }

  release(): void {
    this.#released.resolve()
  }

  guard(documents: DocumentStore): DocumentStore {
    const commit: DocumentStore['commit'] = async (change, events) => {
      if ('insert' in change && change.into.name === this.#into) {
        this.#into = undefined
        this.#reached.resolve()
        await this.#released.promise
      }
      return documents.commit(change, events)
    }
    return new Proxy(documents, {
      get(target, member) {
        if (member === 'commit') return commit
        const value: unknown = Reflect.get(target, member, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }
}

const setUp = async (t: ExecutionContext) => {
  const held = new HeldInsert()
  const { documents, blobs } = await embeddedStores(t)
  const overrides = overridesOf(held.guard(documents), blobs as BlobStore)
  const server = await bootForTest({ t, plugins: [...pluginsOnStores, 'resources.uploads'], overrides })
  const call = server.as(server.admin.key)
  const [from, to] = [await newDataset(call), await newDataset(call)]
  const folder = await newFolder(call, from, 'moved')
  const subfolder = await newFolder(call, from, 'below', folder)
  await server.drained()
  const move = () => ok(call(`/api/datasets/${from}/moveFolder/${folder}?to=${to}`, { method: 'POST' }))
  /** Moves the folder, and handles all effects of that, while a request is about to insert its record. */
  const during = async <T>(into: string, request: () => Promise<T>): Promise<T> => {
    const reached = held.next(into)
    const answer = request()
    await reached
    await move()
    await server.drained()
    held.release()
    const result = await answer
    await server.drained()
    return result
  }
  return { server, call, from, to, folder, subfolder, move, during }
}
type Scene = Awaited<ReturnType<typeof setUp>>

const multipart = ({ call, from }: Scene, folder: string): Promise<string> =>
  upload(call, from, 'late', 'late.txt', { query: `folder_id=${folder}` })

const tus = async ({ call, from }: Scene, folder: string): Promise<string> => {
  const about = Object.entries({ filename: 'late.txt', dataset: from, folder }).map(([name, value]) => `${name} ${btoa(value)}`)
  const headers = {
    ...{ 'tus-resumable': '1.0.0', 'upload-length': '4', 'upload-metadata': about.join(',') },
    'content-type': 'application/offset+octet-stream',
  }
  const { headers: sent } = await call('/api/uploads', { method: 'POST', headers, body: 'late' })
  return sent.get('location')?.split('/').at(-1) ?? ''
}

const filesOf = async (call: TestFetch, dataset: string): Promise<readonly string[]> =>
  (await ok<{ id: string }[]>(call(`/api/datasets/${dataset}/files`))).map(({ id }) => id)

for (const [way, send] of Object.entries({ multipart, tus }))
  test(`a file uploaded (${way}) while its folder moves to another dataset is in that dataset`, async t => {
    for (const level of ['folder', 'subfolder'] as const) {
      const scene = await setUp(t)
      const { server, call, from, to, [level]: folder } = scene
      const file = await scene.during('files', () => send(scene, folder))
      t.deepEqual((await server.get(Files).get(file))?.places, [{ dataset: to, folder, in: folder }])
      t.deepEqual([await filesOf(call, from), await filesOf(call, to)], [[], [file]])
    }
  })

test('a folder created while its parent moves to another dataset follows it, with the file it was created for', async t => {
  const scene = await setUp(t)
  const { server, call, from, to, folder } = scene
  const query = `folder_id=${folder}&path=new/late.txt`
  const file = await scene.during('folders', () => upload(call, from, 'late', 'late.txt', { query }))
  const [place] = (await server.get(Files).get(file))?.places ?? []
  t.is(place?.dataset, to)
  t.like(await server.get(Folders).get(place?.folder ?? ''), { dataset: to, name: 'new', parent: { kind: 'folder', id: folder } })
})

test('the content of a folder that was deleted with the dataset it moved to, before the move was handled, is deleted', async t => {
  const { server, call, from, to, folder, subfolder } = await setUp(t)
  const put = (into: string) => upload(call, from, 'left', 'left.txt', { query: `extract=false&folder_id=${into}` })
  const made = [await put(folder), await put(subfolder)]
  await server.drained()
  const moved = event('folder.moved', { kind: 'folder', id: folder }, { dataset: to, from })
  await server.get(DocumentStore).commit({ tombstone: folder, in: folders }, [moved])
  await server.drained()
  t.is((await server.get(Files).getMany(made)).size, 0)
  t.is(await server.get(Folders).get(subfolder), undefined)
})
