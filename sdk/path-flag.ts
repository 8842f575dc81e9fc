import { Invalid } from './problem.ts'

/** The `true` or `false`, in any case, that is a parameter of a path. `Invalid`, which names the parameter, for anything else. */
export const pathFlag = (text: string, name: string): boolean => {
  const word = text.toLowerCase()
  if (word !== 'true' && word !== 'false') throw new Invalid(`${name} must be true or false`)
  return word === 'true'
}
