import type { Previewer } from '../ports/contributed.ts'
import { contractTest, type TestRunner } from './any-runner.ts'

/** A media type of exactly two lower-case parts, where `*` may replace a part (RFC 6838, 4.2). */
const mediaTypePattern = /^(\*|[a-z0-9][a-z0-9!#$&^_.+-]{0,126})\/(\*|[a-z0-9][a-z0-9!#$&^_.+-]{0,126})$/

/** Path segments without anything that a browser or server interprets, such as `..`, a scheme, a query or an escape. */
const safeSegment = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/
const isSafePath = (path: string): boolean =>
  path.startsWith('/') &&
  path
    .slice(1)
    .split('/')
    .every(segment => safeSegment.test(segment))

/** The contract of Previewer. Pass all previewers of one plugin. */
export function previewerContract(runner: TestRunner, make: () => readonly Previewer[]): void {
  const test = contractTest(runner)
  const all = make()
  const faultsOf = (isRight: (previewer: Previewer) => boolean): readonly string[] =>
    all.filter(previewer => !isRight(previewer)).map(({ id }) => id)

  test('a previewer has a unique id and a description', t => {
    t.true(all.length > 0)
    t.deepEqual(
      faultsOf(({ id, summary }) => /^[^\p{Cc}<>"'&]{1,100}$/u.test(id) && /^[^\p{Cc}]{5,200}$/u.test(summary)),
      [],
    )
    t.is(new Set(all.map(({ id }) => id)).size, all.length)
  })

  test('a previewer declares media types of two parts, each once', t => {
    t.deepEqual(
      faultsOf(({ mediaTypes }) => mediaTypes.length > 0 && mediaTypes.every(type => mediaTypePattern.test(type))),
      [],
    )
    t.deepEqual(
      faultsOf(({ mediaTypes }) => new Set(mediaTypes).size === mediaTypes.length),
      [],
    )
  })

  test('the asset path of a previewer is a plain path on this server, its script a plain path below', t => {
    t.deepEqual(
      faultsOf(({ path, main }) => isSafePath(path) && isSafePath(`/${main}`) && /\.m?js$/.test(main)),
      [],
    )
    const scripts = all.map(({ path, main }) => `${path}/${main}`)
    t.is(new Set(scripts).size, scripts.length)
  })

  test('a previewer declares whether it shows files, and is the same each time', t => {
    t.deepEqual(
      faultsOf(({ showsFiles }) => typeof showsFiles === 'boolean'),
      [],
    )
    t.deepEqual(make().map(declared), all.map(declared))
  })
}

const declared = ({ id, summary, mediaTypes, path, main, showsFiles }: Previewer) => ({ id, summary, mediaTypes, path, main, showsFiles })
