import { definePlugin, on, provide } from 'pounce/sdk'
import { Bookmarks, bookmarks, config, ForgetFile, StoredBookmarks } from './bookmarks.ts'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'example.bookmarks',
  summary: 'Bookmarks: files that a person wants to find again.',
  config,
  provides: [provide(Bookmarks, StoredBookmarks)],
  routes,
  collections: [bookmarks],
  handlers: [on('file.removed', ForgetFile)],
})
