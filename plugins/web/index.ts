import { definePlugin, KnownPages, provide } from 'pounce/sdk'
import { AppBuild } from './app-build.ts'
import { WebParts } from './contributions.ts'
import { NotFoundPage } from './not-found-page.ts'
import { OwnPages } from './own-pages.ts'
import * as parts from './parts.ts'
import * as routes from './routes.ts'
import * as sampleFiles from './sample-files.ts'
import { ownViewers } from './viewers.ts'

export const plugin = definePlugin({
  id: 'web',
  summary: 'The web interface: pages for browsing, uploading, searching and viewing data.',
  services: [AppBuild, WebParts],
  provides: [provide(KnownPages, OwnPages), ...ownViewers],
  routes: { ...routes, ...parts, ...sampleFiles },
  middleware: [{ phase: 'beforeRouting', by: NotFoundPage }],
})
