import { collection } from 'pounce/sdk'

/** What the migrations of the fixtures work on. */
export const things = collection<{ readonly steps: readonly string[] }>('things')
