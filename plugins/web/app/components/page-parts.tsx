import { Link, useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { exactTime, when } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { isNotFound, isSignInRequired, messageOf } from '../lib/messages.ts'
import { isOutdated } from '../lib/on-demand.ts'
import { rememberPage } from '../lib/recent.ts'
import { useSession } from '../lib/session.ts'
import { Button } from './controls.tsx'
import { EditableText } from './editable-text.tsx'

/** The location of a resource: links from the top down. */
export interface PathStep {
  readonly name: string
  readonly to: string
}

/** The name of the page's resource, with its location above. Sets the title of the window. */
export const PageTitle = ({
  name,
  path = [],
  isResource = true,
  onRename,
  actions,
  children,
}: {
  readonly name: string
  readonly path?: readonly PathStep[]
  /** Whether it is the name of a resource, not of what happened to it. */
  readonly isResource?: boolean
  /** Enables inline editing of the name. */
  readonly onRename?: ((name: string, before: string) => Promise<unknown>) | undefined
  /** Buttons at the end of the line. */
  readonly actions?: ReactNode
  readonly children?: ReactNode
}) => {
  const user = useSession()?.user?.id
  useEffect(() => {
    document.title = `${name} · Pounce`
    if (user !== undefined && isResource) rememberPage(user, location.pathname, name)
  }, [name, user, isResource])
  return (
    <header>
      {path.length > 0 && (
        <nav aria-label={t('path')}>
          <ol className="path">
            {path.map(step => (
              <li key={step.to}>
                <Link to={step.to} dir="auto">
                  {step.name}
                </Link>
              </li>
            ))}
          </ol>
        </nav>
      )}
      <div className="title-line">
        <EditableText
          value={name}
          label={t('edit.name')}
          editLabel={t('edit.rename')}
          isEditable={onRename !== undefined}
          onSave={async (text, before) => onRename?.(text, before)}
        >
          <h1 className="page-title" dir="auto">
            {name}
          </h1>
        </EditableText>
        {actions && <div className="actions">{actions}</div>}
      </div>
      {children}
    </header>
  )
}

/** One line of facts below the title; empty ones are left out. */
export const FactLine = ({ facts }: { readonly facts: readonly ReactNode[] }) => (
  <ul className="facts">
    {facts
      .filter(fact => fact !== undefined && fact !== null && fact !== false && fact !== '')
      .map((fact, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: facts have no identity and are few
        <li key={at}>{fact}</li>
      ))}
  </ul>
)

/** A relative time; the exact one on focus and hover. */
export const Time = ({ of }: { readonly of: string }) => (
  <time dateTime={of} title={exactTime(of)}>
    {when(of)}
  </time>
)

/** A progress indicator: `done` of `total`, or indeterminate. */
export const DotProgress = ({ done, total, label }: { readonly done?: number; readonly total?: number; readonly label: string }) => {
  const part = done !== undefined && total !== undefined && total > 0 ? Math.min(1, done / total) : undefined
  return (
    <span
      className={part === undefined ? 'dots unknown' : 'dots'}
      role="progressbar"
      aria-label={label}
      {...(part === undefined ? {} : { 'aria-valuenow': Math.round(part * 100), 'aria-valuemin': 0, 'aria-valuemax': 100 })}
    >
      <span style={part === undefined ? undefined : { inlineSize: `${part * 100}%` }} />
    </span>
  )
}

/** A loading indicator, shown after a short delay. */
export const Loading = ({ label = t('loading') }: { readonly label?: string }) => {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 300)
    return () => clearTimeout(timer)
  }, [])
  return isShown ? <DotProgress label={label} /> : null
}

/** An empty state: what would be here, and how to add it. */
export const Empty = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className="empty">
    <p>
      <b>{title}</b>
    </p>
    {children}
  </div>
)

/** An error, and what to do. */
export const Failure = ({
  error,
  retry,
  hasTitle = true,
}: {
  readonly error: unknown
  readonly retry?: (() => void) | undefined
  readonly hasTitle?: boolean
}) => {
  const isMissing = isNotFound(error)
  const isForSignedIn = isSignInRequired(error)
  return (
    <div role="alert" className="empty">
      {hasTitle && <h2>{isMissing ? t('notFound.title') : t('failure.title')}</h2>}
      <p>{isMissing ? t('notFound.text') : isForSignedIn ? t('failure.signIn') : messageOf(error)}</p>
      <div className="actions">
        {!isMissing && !isForSignedIn && retry && (
          <Button icon="rotate-cw" onPress={retry}>
            {isOutdated(error) ? t('reload') : t('tryAgain')}
          </Button>
        )}
        {(isMissing || isForSignedIn) && <SignInLink />}
        <Link to="/" className="button">
          {t('toHome')}
        </Link>
      </div>
    </div>
  )
}

/** For anonymous users, who may see more after signing in; they return to the same page. */
export const SignInLink = () => {
  const session = useSession()
  const href = useRouterState({ select: state => state.location.href })
  if (!session || session.user) return null
  return (
    <Link to="/login" search={{ next: href } as never} className="button">
      {t('signIn')}
    </Link>
  )
}

/** A page whose resource could not be loaded. */
export const FailurePage = ({ error, retry }: { readonly error: unknown; readonly retry: () => void }) => (
  <>
    <PageTitle name={isNotFound(error) ? t('notFound.title') : t('failure.title')} isResource={false} />
    <Failure error={error} retry={retry} hasTitle={false} />
  </>
)
