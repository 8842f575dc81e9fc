import { definePlugin, on } from 'pounce/sdk'
import { LeftBehind, PoisonedTags } from './faults.ts'
import * as routes from './routes.ts'

/** A plugin with a mistake of every kind, for tests. */
export const plugin = definePlugin({
  id: 'test.faulty-plugin',
  summary: 'Fails wherever it can.',
  routes,
  handlers: [on('tags.added', PoisonedTags, 'poisoned-tags'), on('comment.added', LeftBehind, 'left-behind')],
})
