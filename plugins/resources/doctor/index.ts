import { Commands, definePlugin, provide } from 'pounce/sdk'
import { ReferenceDoctor } from './reference-doctor.ts'

export const plugin = definePlugin({
  id: 'resources.doctor',
  summary: 'Consistency checks of `pounce doctor` that concern all kinds of resources.',
  provides: [provide(Commands, ReferenceDoctor)],
})
