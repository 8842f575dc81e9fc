import { definePlugin } from 'pounce/sdk'
import { webContribution } from 'pounce/sdk/kit'

const module = new URL('./misbehaving.js', import.meta.url)

const viewer = (name: string, trust: 'page' | 'frame') =>
  webContribution({
    id: `test.web-parts.${name}-${trust}`,
    kind: 'viewer',
    title: { en: `${name} ${trust}` },
    module,
    viewer: { mediaTypes: [], extensions: [`${name}-${trust}`], maxBytes: 1_000_000, trust, rank: 90 },
  })

/** Misbehaving viewers; each shows files whose names end with its own. */
export const plugin = definePlugin({
  id: 'test.web-parts',
  summary: 'Parts of the interface that misbehave.',
  provides: ['throws', 'says', 'silent', 'nonsense', 'escapes', 'leaves', 'loops'].flatMap(name => [
    viewer(name, 'page'),
    viewer(name, 'frame'),
  ]),
})
