import test, { type ExecutionContext } from 'ava'
import { Datasets, Files, Users } from 'pounce/sdk'
import { type AccessWorld, makeAccessWorld } from '../support/access-world.ts'
import { refusal } from '../support/people.ts'

const worlds = { private: await makeAccessWorld(true), public: await makeAccessWorld(false) } as const
test.after.always(() => Promise.all(Object.values(worlds).map(({ server }) => server.stop())))
type Mode = keyof typeof worlds

/** What is asked, by the right it takes. `:dataset` and `:file` stand for the thing of the row. */
const requests: Readonly<Record<string, readonly (readonly [method: string, path: string, json?: unknown])[]>> = {
  view: [
    ['GET', '/api/datasets/:dataset'],
    ['GET', '/api/datasets/:dataset/files'],
    ['GET', '/api/datasets/:dataset/listFiles'],
    ['GET', '/api/datasets/:dataset/tags'],
    ['GET', '/api/datasets/:dataset/metadata.jsonld'],
    ['GET', '/api/datasets/:dataset/comments'],
    ['GET', '/api/files/:file/metadata'],
    ['GET', '/api/files/:file/paths'],
    ['GET', '/api/files/:file/tags'],
    ['GET', '/api/files/:file/metadata.jsonld'],
    ['GET', '/api/files/:file/technicalmetadatajson'],
    ['GET', '/api/datasets/:dataset/technicalmetadatajson'],
    ['GET', '/api/files/:file/getPreviews'],
    ['GET', '/api/files/:file/listpreviews'],
    ['GET', '/api/files/:file/extractions'],
    ['GET', '/api/files/:file/isBeingProcessed'],
    ['GET', '/api/files/:file/extracted_metadata'],
    ['GET', '/api/datasets/:dataset/extractions/pending'],
    ['GET', '/api/extractions/:file/metadata'],
    ['GET', '/api/previews/:preview'],
    ['GET', '/api/previews/:preview/metadata'],
    ['GET', '/api/files/:file/sections'],
    ['GET', '/api/sections/:section'],
    ['GET', '/api/sections/:section/tags'],
    ['GET', '/api/sections/:section/comments'],
    ['GET', '/api/datasets/:dataset/getPreviews'],
  ],
  download: [
    ['GET', '/api/files/:file'],
    ['GET', '/api/files/:file/blob'],
    ['GET', '/api/datasets/:dataset/download'],
  ],
  edit: [
    ['PUT', '/api/datasets/:dataset/title', { name: 'goldcrest again' }],
    ['PUT', '/api/files/:file/updateDescription', { description: 'changed' }],
    ['POST', '/api/datasets/:dataset/tags', { tags: ['matrix'] }],
    ['POST', '/api/files/:file/tags', { tags: ['matrix'] }],
    [
      'POST',
      '/api/datasets/:dataset/metadata.jsonld',
      { '@context': {}, agent: { '@type': 'cat:extractor', name: 'm', extractor_id: 'https://example.org/m' }, content: { a: 1 } },
    ],
    ['POST', '/api/files/:file/metadata', { matrix: 1 }],
    ['POST', '/api/files/:file/comment', { text: 'matrix' }],
    ['POST', '/api/sections/:section/comments', { text: 'matrix' }],
    ['POST', '/api/sections/:section/description', { description: 'matrix' }],
    ['POST', '/api/sections/:section/tags', { tags: ['matrix'] }],
    ['POST', '/api/datasets/:dataset/newFolder', { name: 'matrix', parentId: ':dataset', parentType: 'dataset' }],
  ],
  delete: [
    ['DELETE', '/api/datasets/:dataset'],
    ['DELETE', '/api/files/:file'],
  ],
}

/**
 * The policy once more, apart from its code. y: done, n: 403 (401 for nobody in particular), u: like a missing thing. Columns:
 * anonymous stranger viewer editor spaceAdmin | author readOnlyAdmin serverAdmin superAdmin extractor
 */
const oracle: readonly (readonly [mode: Mode, thing: string, right: string, verdicts: string])[] = [
  ['private', '', 'view', 'uuyyy yyuyy'],
  ['private', '', 'download', 'uunyy yyuyy'],
  ['private', '', 'edit', 'uunyy ynuyy'],
  ['private', '', 'delete', 'uunn. .nu.n'],
  ['private', 'shown', 'view', 'yyyyy yyyyy'],
  ['private', 'shown', 'download', 'nnnyy yynyy'],
  ['private', 'shown', 'edit', 'nnnyy ynnyy'],
  ['private', 'shown', 'delete', 'nnnn. .nn.n'],
  ['private', 'trashed', 'view', 'uuuuu yuuyy'],
  ['private', 'trashed', 'download', 'uuuuu yuuyy'],
  ['private', 'trashed', 'edit', 'uuuuu .uu..'],
  ['private', 'trashed', 'delete', 'uuuu. .uu.n'],
  ['private', 'removed', 'view', 'uuuuu uuuuu'],
  ['private', 'removed', 'edit', 'uuuuu uuuuu'],
  ['private', 'removed', 'delete', 'uuuuu uuuuu'],
  ['public', '', 'view', 'yyyyy yyyyy'],
  ['public', '', 'download', 'nnnyy yynyy'],
  ['public', '', 'edit', 'nnnyy ynnyy'],
  ['public', '', 'delete', 'nnnn. .nn.n'],
  ['public', 'trashed', 'view', 'uuuuu yuuyy'],
  ['public', 'trashed', 'edit', 'uuuuu .uu..'],
  ['public', 'trashed', 'delete', 'uuuu. .uu.n'],
  ['public', 'removed', 'view', 'uuuuu uuuuu'],
  ['public', 'removed', 'download', 'uuuuu uuuuu'],
  ['public', 'removed', 'delete', 'uuuuu uuuuu'],
]

const idsOf =
  (world: AccessWorld, thing: string) =>
  (name: string): string => {
    const key = thing === '' ? name : `${thing}${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
    return world.ids[key] ?? 'f'.repeat(24)
  }
const filled = (text: string, idOf: (name: string) => string): string =>
  text.replace(/:(dataset|file|preview|section)/g, (_, name: string) => idOf(name))

const ask = (
  world: AccessWorld,
  who: string,
  [method, path, json]: readonly [string, string, unknown?],
  idOf: (name: string) => string,
) => {
  const { call, query } = { ...world.actors, ...world.outcasts }[who]!
  const body = json === undefined ? {} : { json: JSON.parse(filled(JSON.stringify(json), idOf)) as unknown }
  return call(`${filled(path, idOf)}${query && `?${query}`}`, { method, ...body })
}

/** Nobody in particular learns that a thing is not there only where nothing is hidden: by looking, on a public server. */
const expectedStatuses = (letter: string, who: string, mode: Mode, right: string): readonly number[] => {
  if (letter === 'y') return [200]
  if (who !== 'anonymous') return letter === 'n' ? [403] : [404]
  if (letter === 'n' || mode === 'private') return [401]
  return right === 'view' ? [404] : right === 'download' ? [401, 404] : [401]
}

/** What a refusal must leave as it was. */
const snapshot = async ({ server }: AccessWorld, idOf: (name: string) => string): Promise<string> =>
  JSON.stringify([await server.get(Datasets).get(idOf('dataset')), await server.get(Files).get(idOf('file'))])

const checkRow = async (t: ExecutionContext, mode: Mode, thing: string, right: string, verdicts: string): Promise<void> => {
  const world = worlds[mode]
  const idOf = idsOf(world, thing)
  const letters = verdicts.replaceAll(' ', '').split('')
  for (const request of requests[right]!)
    for (const [at, who] of Object.keys(world.actors).entries()) {
      const letter = letters[at]!
      // Done elsewhere, for it would take the thing from the rows that follow.
      if (letter === '.') continue
      const before = letter === 'y' ? '' : await snapshot(world, idOf)
      const answer = await ask(world, who, request, idOf)
      const body = await answer.text()
      const asked = `${who} ${request[0]} ${request[1]} ${thing} on a ${mode} server: ${answer.status} ${body.slice(0, 200)}`
      t.true(expectedStatuses(letter, who, mode, right).includes(answer.status), asked)
      if (letter !== 'y') t.is(await snapshot(world, idOf), before)
    }
}

for (const [mode, thing, right, verdicts] of oracle)
  test.serial(`${right} on a ${thing || 'private'} dataset and its file on a ${mode} server`, t =>
    checkRow(t, mode, thing, right, verdicts),
  )

test.serial('whoever is not let in is refused everywhere, whatever it is about', async t => {
  for (const world of Object.values(worlds))
    for (const who of Object.keys(world.outcasts))
      for (const thing of ['', 'shown', 'trashed', 'removed'])
        for (const request of Object.values(requests).flat()) {
          const answer = await ask(world, who, request, idsOf(world, thing))
          t.is(answer.status, 401, `${who} ${request[0]} ${request[1]} ${thing}`)
          await answer.text()
        }
})

test.serial('what is hidden, missing, malformed or of another kind is answered alike', async t => {
  const { ids } = worlds.private
  const alike = async (who: string, path: string, wrong: readonly string[]): Promise<void> => {
    const answers: unknown[] = []
    for (const id of wrong) answers.push(await refusal(await worlds.private.actors[who]!.call(path.replace(':id', id))))
    t.is((answers[0] as { httpStatus: number }).httpStatus, 404)
    for (const answer of answers) t.deepEqual(answer, answers[0])
  }
  const bad = ['f'.repeat(24), 'nonsense', '0', '%27', 'A'.repeat(24), '1'.repeat(300)]
  for (const who of ['stranger', 'serverAdmin']) {
    const hiddenDatasets = [ids['dataset'], ids['trashedDataset'], ids['removedDataset'], ids['file'], ids['space']]
    await alike(who, '/api/datasets/:id', [...hiddenDatasets.map(String), ...bad])
    await alike(who, '/api/datasets/:id/files', [...hiddenDatasets.map(String), ...bad])
    await alike(
      who,
      '/api/files/:id/metadata',
      [ids['file'], ids['trashedFile'], ids['removedFile'], ids['dataset']].map(String).concat(bad),
    )
    await alike(who, '/api/spaces/:id', [ids['space'], ids['dataset']].map(String).concat(bad))
    await alike(who, '/api/collections/:id', [ids['collection'], ids['dataset']].map(String).concat(bad))
  }
})

test.serial('neither extractors nor accounts that only read empty the trash', async t => {
  const { actors, ids, server } = worlds.private
  for (const who of ['extractor', 'readOnlyAdmin'])
    for (const path of ['/api/datasets/emptyTrash', '/api/collections/emptyTrash'])
      t.is((await actors[who]!.call(path, { method: 'DELETE' })).status, 403)
  t.is((await server.get(Datasets).get(String(ids['trashedDataset'])))?.state, 'trashed')
})

test.serial('rights that are taken away are gone at the next request', async t => {
  const { server, actors, ids, people } = worlds.private
  const dataset = String(ids['dataset'])
  const status = async () => (await actors['editor']!.call(`/api/datasets/${dataset}`)).status
  t.is(await status(), 200)
  await server.get(Users).setMembership(people['editor']!.id, String(ids['space']), undefined)
  t.is(await status(), 404)
  t.is((await actors['editor']!.call(`/api/files/${ids['file']}/metadata`)).status, 404)
  t.is((await actors['editor']!.call(`/api/previews/${ids['preview']}`)).status, 404)
})

test.serial('who may delete from the trash deletes from the trash, and then it is gone for all', async t => {
  const world = worlds.public
  const idOf = idsOf(world, 'trashed')
  t.is((await ask(world, 'spaceAdmin', ['DELETE', '/api/datasets/:dataset'], idOf)).status, 200)
  for (const who of ['author', 'superAdmin', 'spaceAdmin']) {
    t.is((await ask(world, who, ['GET', '/api/datasets/:dataset'], idOf)).status, 404)
    t.is((await ask(world, who, ['GET', '/api/files/:file/metadata'], idOf)).status, 404)
  }
})
