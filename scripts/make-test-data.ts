import { mkdir, writeFile } from 'node:fs/promises'
import { notes, observations, paper, readme, stations, tone } from './test-data/documents.ts'
import { photo, picture } from './test-data/images.ts'
import { pdf } from './test-data/pdf.ts'
import { zip } from './test-data/zip.ts'

const folder = new URL('../test/data/', import.meta.url)

const bundle = () =>
  zip([
    { name: 'readme.txt', bytes: Buffer.from('Three files, one of them in a folder.\n') },
    { name: 'notes.md', bytes: Buffer.from(notes) },
    { name: 'tables/stations.csv', bytes: Buffer.from(stations()) },
  ])

const files: Readonly<Record<string, string | Uint8Array>> = {
  'photo.jpg': await photo(),
  'picture.png': await picture(),
  'paper.pdf': pdf(paper),
  'stations.csv': stations(),
  'notes.md': notes,
  'Übersicht – 観測.md': observations,
  'tone.wav': tone(),
  'bundle.zip': bundle(),
  'empty.bin': '',
  'README.md': readme,
}

await mkdir(folder, { recursive: true })
for (const [name, bytes] of Object.entries(files)) await writeFile(new URL(encodeURIComponent(name), folder), bytes)
