import { definePlugin, on } from 'pounce/sdk'
import { LeftBehind, PoisonedTags } from './faults.ts'
import * as routes from './routes.ts'

/** A test plugin with faults of every kind. */
export const plugin = definePlugin({
  id: 'test.faulty-plugin',
  summary: 'Fails wherever it can.',
  routes,
  handlers: [on('tags.added', PoisonedTags, 'poisoned-tags'), on('comment.added', LeftBehind, 'left-behind')],
})
