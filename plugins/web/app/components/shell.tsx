import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { api, serverEvents, urlOf } from '../lib/api.ts'
import { useContributions } from '../lib/contributions.ts'
import { t } from '../lib/i18n.ts'
import { useInterruption, useSession } from '../lib/session.ts'
import { useLanguage } from '../lib/use-language.ts'
import { AccountMenu } from './account-menu.tsx'
import { KeysHelp } from './keys-help.tsx'
import { late } from './late.tsx'
import { Logo } from './logo.tsx'
import { SearchBox } from './search-box.tsx'
import { Toasts } from './toasts.tsx'
import { UploadButton } from './upload-button.tsx'

/** The common parts of every page: the skip link, the header, the page itself, the footer, and messages. */
export const Shell = () => {
  useLanguage()
  const session = useSession()
  const name = session?.site.name ?? 'Pounce'
  return (
    <>
      <a className="skip-link" href="#content">
        {t('skip')}
      </a>
      <Unreachable />
      <header className="site-header">
        <Link to="/" className="site-name">
          <Logo />
          {name}
        </Link>
        <div className="search-slot">
          <SearchBox />
        </div>
        <nav aria-label={t('account')}>
          <Link to="/datasets" className="button quiet">
            {t('explore.title')}
          </Link>
          <PartLinks />
          {session?.user && <UploadButton user={session.user.id} />}
          {session && <AccountMenu session={session} />}
        </nav>
      </header>
      <Main />
      <footer className="site-footer">
        <a href={urlOf('/docs')}>{t('apiDocumentation')}</a>
        <Link to="/accessibility">{t('accessibility.title')}</Link>
      </footer>
      <Interruptions />
      <KeysHelp />
      <Toasts />
    </>
  )
}

/** Pages of plugins. */
const PartLinks = () =>
  (useContributions() ?? [])
    .filter(({ kind, of }) => (kind === 'page' && of.length === 0) || kind === 'admin')
    .sort((one, other) => one.order - other.order)
    .map(({ id, title }) => (
      <Link key={id} to={`/parts/${id}` as never} className="button quiet">
        {title}
      </Link>
    ))

const SessionDialogs = late(async () => (await import('./session-dialogs.tsx')).SessionDialogs)

/** Dialogs that the account requires before the page continues; loaded on demand. Once shown they decide themselves when they are over. */
const Interruptions = () => {
  const session = useSession()
  const interruption = useInterruption()
  const wasNeeded = useRef<unknown>(null)
  wasNeeded.current ||= interruption || session?.user?.secondFactorPending
  return wasNeeded.current ? <SessionDialogs /> : null
}

/** The page. A new one gets the focus, so that screen readers start there. */
const Main = () => {
  const path = useRouterState({ select: state => state.location.pathname })
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the path is what moves the focus
  useEffect(() => {
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [path])
  return (
    <main id="content" ref={main} tabIndex={-1}>
      <Outlet />
    </main>
  )
}

/** Shown while the server does not respond. */
const Unreachable = () => {
  const [isAway, setAway] = useState(false)
  useEffect(() => {
    const lost = (): void => setAway(true)
    const found = (): void => setAway(false)
    serverEvents.addEventListener('unreachable', lost)
    serverEvents.addEventListener('reached', found)
    return () => {
      serverEvents.removeEventListener('unreachable', lost)
      serverEvents.removeEventListener('reached', found)
    }
  }, [])
  useEffect(() => {
    if (!isAway) return undefined
    const timer = setInterval(() => void api('GET /api/session').catch(() => undefined), 3000)
    return () => clearInterval(timer)
  }, [isAway])
  return isAway ? (
    <div role="alert" className="banner">
      {t('unreachable')}
    </div>
  ) : null
}
