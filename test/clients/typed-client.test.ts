import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { newPerson } from '../support/people.ts'
import { clientModules, compileErrors, generateTypes, installOpenapiTypescript } from './openapi-typescript.ts'

const missing = await installOpenapiTypescript()
const clientTest = missing === undefined ? test : test.skip
const why = missing === undefined ? '' : ` (${missing})`

/** Code written with the generated types: ten operations, with the names of the models. With `view=full` a response has a different model, hence `as`. */
const client = `
import createClient from 'openapi-fetch'
import type { components, paths } from './pounce.d.ts'

declare const process: { readonly argv: readonly string[] }
type Dataset = components['schemas']['Dataset']

const [, , baseUrl = '', key = ''] = process.argv
const { GET, POST, PUT, DELETE } = createClient<paths>({ baseUrl, headers: { 'X-API-Key': key } })

const sent = <T>({ data, error }: { data?: T; error?: unknown }): T => {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data
}

const person: components['schemas']['CurrentUser'] = sent(await GET('/api/me'))
const space = sent(await POST('/api/spaces', { body: { name: 'Laboratory', description: '' } }))
const made = sent(await POST('/api/datasets/createempty', { body: { name: 'Soil' } as components['schemas']['NewDataset'] }))
const path = { id: made.id }
const renamed: components['schemas']['Success'] = sent(await PUT('/api/datasets/{id}/title', { params: { path }, body: { name: 'Soil samples' } }))
sent(await POST('/api/spaces/{id}/addDatasetToSpace/{dataset}', { params: { path: { id: space.id, dataset: made.id } } }))
const dataset: Dataset = sent(await GET('/api/datasets/{id}', { params: { path } })) as Dataset
const folder: { id: string } = sent(
  await POST('/api/datasets/{id}/newFolder', { params: { path }, body: { name: 'raw', parentId: made.id, parentType: 'dataset' } }),
)
const folders: components['schemas']['ListedFolder'][] = sent(await GET('/api/datasets/{id}/folders', { params: { path } }))
const datasets: Dataset[] = sent(await GET('/api/datasets', { params: { query: { limit: 5 } } })) as Dataset[]
const removed = sent(await DELETE('/api/datasets/{id}', { params: { path } }))
console.log(JSON.stringify({ person, renamed, dataset, folder, folders, datasets, removed }))
`

const booted = async () => {
  const server = await bootForTest()
  const folder = await mkdtemp(join(tmpdir(), 'typed-client-'))
  const document = join(folder, 'openapi.json')
  await writeFile(document, await (await server.as()('/openapi.json')).text())
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await symlink(clientModules, join(folder, 'node_modules'))
  await generateTypes(document, join(folder, 'pounce.d.ts'))
  await writeFile(join(folder, 'client.ts'), client)
  const wrong = client.replace("{ name: 'Soil samples' }", '{ name: 7 }').replace('const dataset: Dataset', 'const dataset: Dataset[]')
  await writeFile(join(folder, 'wrong.ts'), wrong)
  // Compiled together, since most of the time is spent on the types.
  const errors = (await compileErrors(folder, 'client.ts', 'wrong.ts')).split('\n')
  return { server, folder, errors, person: await newPerson(server, 'typed') }
}
const made = missing === undefined ? await booted() : undefined
test.after.always(async () => {
  await made?.server.stop()
  if (made) await rm(made.folder, { recursive: true, force: true })
})

const ready = () => {
  if (!made) throw new Error(`There is no openapi-typescript: ${missing}`)
  return made
}

const run = promisify(execFile)

clientTest(`a generated client uses the type names of the API, compiles and performs ten operations${why}`, async t => {
  const { folder, server, person, errors } = ready()
  t.deepEqual(
    errors.filter(line => line !== '' && !/^(?:wrong\.ts| )/.test(line)),
    [],
  )
  const { stdout } = await run(process.execPath, [join(folder, 'client.ts'), server.url, person.key])
  const { dataset, folders, datasets } = JSON.parse(stdout) as Readonly<Record<string, Readonly<Record<string, unknown>>>>
  t.like(dataset, { name: 'Soil samples', resource_type: 'dataset' })
  t.like(folders, [{ name: '/raw' }])
  t.like(datasets, [{ name: 'Soil samples' }])
})

clientTest(`the response of getDataset has the type Dataset${why}`, async t => {
  const types = await readFile(join(ready().folder, 'pounce.d.ts'), 'utf8')
  const operation = /\n {4}getDataset: \{\n(?:.*\n)*?.*200: \{\n(?:.*\n){5}/.exec(types)?.[0] ?? ''
  t.true(operation.includes('components["schemas"]["Dataset"]'), operation)
})

clientTest(`code that violates the types does not compile${why}`, t => {
  const errors = ready().errors.join('\n')
  t.regex(errors, /wrong\.ts.*TS2322.*'number' is not assignable to type 'string'/)
  t.regex(errors, /wrong\.ts.*TS2740/)
})
