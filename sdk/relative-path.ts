import { Invalid } from './problem.ts'

/** The path ends with a name other than the file name that was sent with it. */
export class OtherName extends Invalid {
  constructor(name: string) {
    super(`path must end with the name of the file, \`a/b/${name.slice(0, 255)}\`: it includes the folders and the name`)
  }
}

/** Maximum depth of folders in a dataset. */
export const maxFolderDepth = 100

const maxCharacters = 4000
const maxNameCharacters = 255
const example = 'such as `a/b/c.txt`'

const checkedName = (sent: string, what: string): string => {
  const name = sent.normalize('NFC')
  if (name.trim() === '') throw new Invalid(`${what} must not have empty names: one slash between two names, none at the beginning or end`)
  if (name === '.' || name === '..') throw new Invalid(`${what} must not contain the names . and ..: it starts at its dataset or folder`)
  if ([...name].length > maxNameCharacters) throw new Invalid(`${what} must have names of at most ${maxNameCharacters} characters`)
  return name
}

/**
 * The names in a relative path such as `a/b/c.txt`, in NFC; at least one. Throws `Invalid`, with a message that states the rule, for paths that are absolute,
 * too long or too deep, or that contain empty names, `.`, `..`, backslashes or control characters. `what` starts the messages: `path`.
 */
export const namesInPath = (path: string, what = 'path'): readonly string[] => {
  if (path === '') throw new Invalid(`${what} is empty: it must be a relative path, ${example}`)
  if (path.length > maxCharacters) throw new Invalid(`${what} must have at most ${maxCharacters} characters; this one has ${path.length}`)
  if (path.startsWith('/')) throw new Invalid(`${what} must be relative, ${example}: without a slash at the beginning`)
  if (/[\p{Cc}\\]/u.test(path) || !path.isWellFormed()) {
    throw new Invalid(`${what} must not contain backslashes or control characters; names are separated by /`)
  }
  const names = path.split('/').map(name => checkedName(name, what))
  if (names.length > maxFolderDepth + 1)
    throw new Invalid(`${what} is too deep: folders can be nested at most ${maxFolderDepth} levels deep`)
  return names
}
