import type { TestFn } from 'ava'

const declarations: (() => void)[] = []

/** Declares all deferred tests. */
export const declareAll = (): void => {
  for (const declare of declarations.splice(0)) declare()
}

/** `test` for one of several files in a process: titles are prefixed with the file, and declarations are deferred. */
export const deferred = <Test extends object>(test: Test, file: string): Test =>
  new Proxy(test, {
    apply(target, self, words: readonly unknown[]) {
      const [title, ...rest] = words
      const named = typeof title === 'string' ? [`${file}: ${title}`, ...rest] : words
      declarations.push(() => void Reflect.apply(target as (...words: readonly unknown[]) => void, self, named))
    },
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function' || name === 'macro') return value
      if (name === 'skipIf' || name === 'runIf') return (condition: unknown) => deferred(value(condition) as TestFn, file)
      return deferred(value, file)
    },
  })
