import { definePlugin } from 'pounce/sdk'
import { listSteps, steps, TakeTurns } from './take-turns.ts'

export const plugin = definePlugin({
  id: 'test.turns',
  summary: 'Periodic work that writes down each of its steps.',
  collections: [steps],
  periodic: [{ name: 'steps', everyMs: 100, task: TakeTurns }],
  routes: { listSteps },
})
