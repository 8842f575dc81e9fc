import { definePlugin } from 'pounce/sdk'
import { webContribution } from 'pounce/sdk/kit'

const texts = {
  en: { type: 'Type', files: 'Files', none: 'No files', copied: 'Copied' },
  de: { type: 'Typ', files: 'Dateien', none: 'Keine Dateien', copied: 'Kopiert' },
}
const here = (name: string): URL => new URL(name, import.meta.url)

export const plugin = definePlugin({
  id: 'example.file-types',
  summary: 'The types of files in a dataset.',
  isSwitchable: true,
  provides: [
    webContribution({
      id: 'example.file-types.tab',
      kind: 'tab',
      title: { en: 'File types', de: 'Dateitypen' },
      module: here('./types.js'),
      of: ['dataset'],
      texts,
    }),
    webContribution({
      id: 'example.file-types.action',
      kind: 'action',
      title: { en: 'List file names', de: 'Dateinamen auflisten' },
      module: here('./names.js'),
      of: ['dataset'],
      permission: 'DownloadFiles',
      texts,
    }),
    webContribution({
      id: 'example.file-types.page',
      kind: 'page',
      title: { en: 'Newest', de: 'Neueste' },
      module: here('./newest.js'),
    }),
  ],
})
