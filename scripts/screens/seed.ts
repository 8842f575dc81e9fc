import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import type { TestFetch, TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../../test/support/people.ts'

/** The seeded resources, by name. */
export interface Seeded {
  readonly ids: Readonly<Record<string, string>>
  /** A researcher who is not an admin. */
  readonly researcher: Person
}

const root = new URL('../../', import.meta.url)
const testFile = (name: string): Promise<Buffer> => readFile(new URL(`test/data/${name}`, root))

const readme = `# Leaf area, summer 2026

Leaf area index of 120 beech plots between 1,200 and 1,900 m, measured with an **LAI-2200** twice a day.

| Folder | Holds |
| --- | --- |
| \`plots/\` | one table per plot and day |
| \`photos/\` | hemispherical photos, one per plot |

Missing readings are empty cells. Times are in UTC.
`

const readings = (rows: number): string =>
  `time,lai,par,temperature\n${Array.from({ length: rows }, (_, at) => `2026-07-01T${String(at % 24).padStart(2, '0')}:00:00Z,${(2 + (at % 17) / 10).toFixed(2)},${400 + ((at * 37) % 900)},${(11 + (at % 13) / 2).toFixed(1)}`).join('\n')}\n`

/** Creates a space, collections and datasets with folders, several hundred files and their extraction results, through the public API. */
export const seed = async (server: TestServer): Promise<Seeded> => {
  const admin = server.as(server.admin.key)
  const researcher = await newPerson(server, 'ada')
  await answerOf(researcher.asAdmin, `/api/users/${researcher.id}/updateName?firstName=Ada&lastName=Lovelace`, 'POST')
  const { id: member } = await newPerson(server, 'grace')
  await answerOf(admin, `/api/users/${member}/updateName?firstName=Grace&lastName=Hopper`, 'POST')
  const call = researcher.call
  const create = async (kind: string, body: object): Promise<string> => String((await answerOf(call, `/api/${kind}`, 'POST', body))['id'])

  const space = await create('spaces', {
    name: 'Alpine plots',
    description: 'Long-term forest plots between 1,200 and 1,900 m: leaf area, soil and weather since 2019.',
  })
  await create('spaces', { name: 'River Aare', description: 'Gauges and water chemistry.' })
  await create('spaces', { name: 'Herbarium', description: 'Scans of 12,000 sheets.' })
  const collection = await create('collections', { name: 'Leaf area', description: 'All campaigns, one dataset each.', space })
  for (const name of ['Soil moisture', 'Weather stations', 'Phenology photos'])
    await create('collections', { name, description: '', space })

  const datasetOf = (name: string, description: string): Promise<string> =>
    create('datasets/createempty', { name, description, space: [space] })
  for (const year of [2019, 2020, 2021, 2022, 2023, 2024, 2025])
    for (const plot of ['leaf area', 'soil moisture'])
      await datasetOf(`${plot[0]?.toUpperCase()}${plot.slice(1)}, summer ${year}`, `Readings of the ${plot} campaign in ${year}.`)
  const empty = await datasetOf('Leaf area, winter 2026', '')
  const dataset = await datasetOf(
    'Leaf area, summer 2026',
    'Leaf area index of 120 beech plots between 1,200 and 1,900 m, measured twice a day. Photos, spectra and the loggers’ raw tables.',
  )
  await answerOf(call, `/api/collections/${collection}/datasets/${dataset}`, 'POST')
  await answerOf(call, `/api/datasets/${dataset}/tags`, 'POST', { tags: ['beech', 'leaf area', 'LAI-2200'] })

  const put = async (path: string, bytes: Buffer | string, type: string): Promise<string> => {
    const form = new FormData()
    form.append('file', new Blob([typeof bytes === 'string' ? bytes : Uint8Array.from(bytes)], { type }), path.split('/').at(-1))
    const answer = await call(`/api/uploadToDataset/${dataset}?path=${encodeURIComponent(path)}&batch=screens`, {
      method: 'POST',
      body: form,
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return ((await answer.json()) as { id: string }).id
  }
  const ids: Record<string, string> = { space, collection, dataset, empty }
  ids['readme'] = await put('README.md', readme, 'text/markdown')
  const picture = await readFile(new URL('plugins/web/sample/hill.jpg', root))
  ids['picture'] = await put('hill above plot 17.jpg', picture, 'image/jpeg')
  ids['pdf'] = await put('leaf-area.pdf', await readFile(new URL('plugins/web/sample/leaf-area.pdf', root)), 'application/pdf')
  ids['table'] = await put('stations.csv', await readFile(new URL('plugins/web/sample/stations.csv', root)), 'text/csv')
  ids['sound'] = await put('blackbird.wav', await testFile('tone.wav'), 'audio/wav')
  ids['archive'] = await put('raw loggers.zip', await testFile('bundle.zip'), 'application/zip')
  ids['unknown'] = await put('spectra.raw', Buffer.alloc(4096, 7), 'application/octet-stream')
  ids['map'] = await put('areas.geojson', await testFile('areas.geojson'), 'application/geo+json')
  for (let at = 1; at <= 120; at++) await put(`plots/plot ${at}.csv`, readings(at * 3), 'text/csv')
  for (let at = 1; at <= 80; at++) await put(`plots/west/plot ${200 + at}.csv`, readings(at), 'text/csv')
  for (let at = 1; at <= 40; at++)
    await put(`loggers/2026-07-${String((at % 31) + 1).padStart(2, '0')} logger ${at}.csv`, readings(at * 2), 'text/csv')
  for (let at = 1; at <= 6; at++) await put(`photos/plot ${at}.jpg`, picture, 'image/jpeg')
  await answerOf(call, `/api/files/${ids['picture']}/tags`, 'POST', { tags: ['beech', 'plot 17'] })
  await server.drained()
  for (const file of ['readme', 'picture', 'pdf', 'table', 'sound', 'archive']) await extracted(call, ids[file] ?? '')
  await server.drained()
  const folders = (await (await call(`/api/datasets/${dataset}/folders`)).json()) as readonly {
    readonly id: string
    readonly name: string
  }[]
  ids['folder'] = folders.find(({ name }) => name.endsWith('plots'))?.id ?? ''
  return { ids, researcher }
}

const answerOf = async (call: TestFetch, path: string, method: string, json?: object): Promise<Readonly<Record<string, unknown>>> => {
  const answer = await call(path, { method, ...(json === undefined ? {} : { json }) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return text.startsWith('{') ? (JSON.parse(text) as Readonly<Record<string, unknown>>) : {}
}

/** Polls the status of an extraction, which runs in a separate process. */
const extracted = async (call: TestFetch, file: string): Promise<void> => {
  for (let tries = 0; tries < 240; tries++) {
    const status = (await (await call(`/api/extractions/${file}/status`)).json()) as Readonly<Record<string, unknown>>
    if (status['Status'] === 'Done') return
    await setTimeout(250)
  }
}
