/** A minimal browser for signing in: keeps cookies, sends them where they belong and follows redirects. */
export class Browser {
  readonly #cookies = new Map<string, { readonly host: string; readonly path: string; readonly pair: string }>()

  /** Follows redirects to the end; `isLast` stops it before a URL is requested. `trail` is the list of visited URLs. */
  async go(
    address: string,
    isLast: (url: URL) => boolean = () => false,
  ): Promise<{ readonly answer: Response; readonly trail: readonly URL[] }> {
    const trail = [new URL(address)]
    for (;;) {
      const url = trail.at(-1) as URL
      const answer = await fetch(url, { redirect: 'manual', headers: { cookie: this.cookiesFor(url) } })
      this.#keep(url, answer)
      const location = answer.headers.get('location')
      if (answer.status < 300 || answer.status > 399 || location === null) return { answer, trail }
      await answer.body?.cancel()
      const next = new URL(location, url)
      trail.push(next)
      if (isLast(next) || trail.length > 20) return { answer, trail }
    }
  }

  /** The `Cookie` header for a URL. */
  cookiesFor({ host, pathname }: URL): string {
    const own = [...this.#cookies.values()].filter(cookie => cookie.host === host && pathname.startsWith(cookie.path))
    return own.map(({ pair }) => pair).join('; ')
  }

  #keep({ host }: URL, answer: Response): void {
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const path = /; Path=([^;]*)/i.exec(line)?.[1] ?? '/'
      const name = `${host} ${path} ${pair.split('=')[0]}`
      if (/; Max-Age=0(;|$)/i.test(line)) this.#cookies.delete(name)
      else this.#cookies.set(name, { host, path, pair })
    }
  }
}
