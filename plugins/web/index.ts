import { definePlugin, KnownPages, provide } from 'pounce/sdk'
import { AppBuild } from './app-build.ts'
import { NotFoundPage } from './not-found-page.ts'
import { OwnPages } from './own-pages.ts'
import * as routes from './routes.ts'
import * as sampleFiles from './sample-files.ts'

export const plugin = definePlugin({
  id: 'web',
  summary: 'The web interface: pages for browsing, uploading, searching and viewing data.',
  services: [AppBuild],
  provides: [provide(KnownPages, OwnPages)],
  routes: { ...routes, ...sampleFiles },
  middleware: [{ phase: 'beforeRouting', by: NotFoundPage }],
})
