import test from 'ava'
import fc from 'fast-check'
import { webUrl } from '../../../test/support/web-urls.ts'
import { nameFrom } from './upload-by-url.ts'

test('a file is named after the last segment of its URL, unless the response names it', t => {
  const url = 'https://example.org/a/leaf%20one.csv?x=1#y'
  t.is(nameFrom([url], undefined), 'leaf one.csv')
  t.is(nameFrom(['https://example.org/', 'https://example.org/b/'], undefined), 'b')
  t.is(nameFrom(['https://example.org/'], undefined), 'download')
  const disposed: readonly (readonly [string, string])[] = [
    ['attachment; filename="a b.txt"', 'a b.txt'],
    ['attachment; filename=a.txt; size=3', 'a.txt'],
    ['attachment; filename="plain.txt"; filename*=UTF-8\'\'na%C3%AFve.txt', 'naïve.txt'],
    ['attachment; filename="quo\\"te.txt"', 'quo"te.txt'],
    ['attachment', 'leaf one.csv'],
    ['attachment; filename="../../etc/passwd"', 'leaf one.csv'],
    ['attachment; filename=".."', 'leaf one.csv'],
    ['attachment; filename="a\u0000b"', 'leaf one.csv'],
    ["attachment; filename*=UTF-8''a%2Fb", 'leaf one.csv'],
  ]
  for (const [header, name] of disposed) t.is(nameFrom([url], header), name, header)
})

test('every URL and response yields a valid file name', t => {
  const isSafe = (name: string): boolean =>
    name !== '' && name.length <= 255 && name !== '.' && name !== '..' && !/[\p{Cc}/\\]/u.test(name) && name.isWellFormed()
  t.notThrows(() =>
    fc.assert(
      fc.property(webUrl(), fc.string({ unit: 'binary', maxLength: 400 }), fc.string({ unit: 'binary' }), (url, path, header) => {
        const address = `${url}/${encodeURIComponent(path.toWellFormed())}`
        return isSafe(nameFrom([address], header)) && isSafe(nameFrom([address], `attachment; filename="${header}"`))
      }),
    ),
  )
})
