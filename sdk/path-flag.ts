import { Invalid } from './problem.ts'

/** A path parameter that is `true` or `false`, in any case. `Invalid`, naming the parameter, for anything else. */
export const pathFlag = (text: string, name: string): boolean => {
  const word = text.toLowerCase()
  if (word !== 'true' && word !== 'false') throw new Invalid(`${name} must be true or false`)
  return word === 'true'
}
