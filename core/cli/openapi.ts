import { writeFile } from 'node:fs/promises'
import type { Run } from './built-in.ts'
import { makeKernel } from './kernel-session.ts'

/** `pounce openapi`. */
export const writeOpenapi: Run = async context => {
  const document = `${JSON.stringify(await (await makeKernel(context)).openapi(), null, 2)}`
  const { out } = context.options
  if (typeof out !== 'string') return document
  await writeFile(out, `${document}\n`)
  return { written: out }
}
