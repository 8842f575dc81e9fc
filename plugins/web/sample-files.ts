import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Bytes, NotFound, routesFor, s } from 'pounce/sdk'

const types: Readonly<Record<string, string>> = {
  'README.md': 'text/markdown; charset=utf-8',
  'stations.csv': 'text/csv; charset=utf-8',
  'hill.jpg': 'image/jpeg',
  'leaf-area.pdf': 'application/pdf',
}

const route = routesFor('web', {})

export const getSampleFile = route({
  method: 'GET',
  path: '/web/sample/:file',
  summary: 'Get a file of the sample dataset',
  description: 'Clients create the sample dataset from these files: README.md, stations.csv, hill.jpg and leaf-area.pdf.',
  permission: 'anyone',
  ignoresCredentials: true,
  params: s.Object({ file: s.String({ maxLength: 200 }) }),
  responses: {
    200: s.bytes<Bytes>({
      'text/markdown': s.bytes(),
      'text/csv': s.bytes(),
      'image/jpeg': s.bytes(),
      'application/pdf': s.bytes(),
    }),
  },
  throws: [NotFound],
  async handle({ params: { file } }) {
    const contentType = Object.hasOwn(types, file) ? types[file] : undefined
    if (contentType === undefined) throw new NotFound('file')
    const path = fileURLToPath(new URL(`./sample/${file}`, import.meta.url))
    const { size: sizeBytes } = await stat(path)
    return { status: 200, body: { open: part => createReadStream(path, part), sizeBytes, contentType } satisfies Bytes }
  },
})
