import { definePlugin } from 'pounce/sdk'
import { webContribution } from 'pounce/sdk/kit'

export const plugin = definePlugin({
  id: 'example.template',
  apiVersion: 1,
  summary: 'Shows text with tabs as a table.',
  provides: [
    webContribution({
      id: 'example.template.table',
      kind: 'viewer',
      title: { en: 'Table', de: 'Tabelle' },
      module: new URL('../web/viewer.js', import.meta.url),
      texts: {
        en: { empty: 'There is no table in this file.', more: 'The first {{count}} rows' },
        de: { empty: 'In dieser Datei ist keine Tabelle.', more: 'Die ersten {{count}} Zeilen' },
      },
      viewer: { mediaTypes: ['text/tab-separated-values'], extensions: ['tsv'], maxBytes: 5_000_000, trust: 'frame', rank: 60 },
    }),
  ],
})
