import { definePlugin } from 'pounce/sdk'
import { environment } from './environment.ts'

export const plugin = definePlugin({
  id: 'compat.clowder',
  summary: "Understands the environment variables of Clowder 1.x's compose file.",
  environment,
})
