import { definePlugin } from 'pounce/sdk'
import { webContribution } from 'pounce/sdk/kit'

export const plugin = definePlugin({
  id: 'example.viewer-spectrum',
  summary: 'Shows spectra in JCAMP-DX files.',
  isSwitchable: true,
  provides: [
    webContribution({
      id: 'example.viewer-spectrum.spectrum',
      kind: 'viewer',
      title: { en: 'Spectrum', de: 'Spektrum' },
      module: new URL('./spectrum.js', import.meta.url),
      texts: {
        en: { empty: 'There is no spectrum in this file.', points: '{{count}} points of {{title}}', x: 'Position', y: 'Intensity' },
        de: { empty: 'In dieser Datei ist kein Spektrum.', points: '{{count}} Punkte von {{title}}', x: 'Position', y: 'Intensität' },
      },
      viewer: { mediaTypes: ['chemical/x-jcamp-dx'], extensions: ['jdx', 'dx'], maxBytes: 5_000_000, trust: 'frame', rank: 60 },
    }),
  ],
})
