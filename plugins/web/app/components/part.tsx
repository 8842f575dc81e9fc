import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { Contribution } from '../lib/contributions.ts'
import { t } from '../lib/i18n.ts'
import { messageOf } from '../lib/messages.ts'
import { isOutdated, onDemand } from '../lib/on-demand.ts'
import { useLanguage } from '../lib/use-language.ts'
import { hostOf, loadPart } from '../lib/viewer-host.ts'
import type { ViewedThing, ViewerHost } from '../viewers/host.ts'
import { isRequestFailed } from '../viewers/lib/request-failed.ts'
import { DownloadLink } from './download-link.tsx'
import { Loading } from './page-parts.tsx'

/** How long a part may be idle before it must have mounted, and how long it may wait for bytes of the server. */
const [silenceMs, waitMs] = [10_000, 60_000]

interface PartProps {
  readonly contribution: Contribution
  readonly thing: ViewedThing
  /** URL of the bytes; empty where there are none. */
  readonly url: string
  /** Download URL of the bytes, if the user may download them. */
  readonly download?: string | undefined
  readonly state: ViewerHost['state']
}

interface Failure {
  readonly is: 'failed'
  readonly message: string
  /** Another attempt may succeed. */
  readonly isPassing: boolean
}

type Shown = { readonly is: 'loading' | 'mounted' } | Failure

/**
 * The reason for a part's rejection: a message for the user where it is an `Error` created by the part; anything else is a bug in it. Parts of other
 * plugins run in a frame or come from other scripts, so the name is checked and not the class.
 */
const messageFrom = (error: unknown): string => {
  if (isOutdated(error)) return messageOf(error)
  return error instanceof Error && (error.name === 'Error' || isRequestFailed(error)) && error.message !== ''
    ? error.message
    : t('part.broken')
}

/** Mounts a contribution of a plugin in its own container: when it fails, the page continues, with the name of the plugin and the download. */
export const Part = ({ contribution, thing, url, download, state }: PartProps) => {
  const box = useRef<HTMLDivElement>(null)
  const [shown, setShown] = useState<Shown>({ is: 'loading' })
  const [attempt, setAttempt] = useState(0)
  const navigate = useNavigate()
  const latest = useRef({ thing, state, navigate })
  latest.current = { thing, state, navigate }
  const { kind, id } = thing
  const language = useLanguage()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a part is mounted for what it is about, not again for each change of the page around it
  useEffect(() => {
    const { current } = box
    if (!current) return
    setShown({ is: 'loading' })
    const element = document.createElement('div')
    element.className = 'part-content'
    current.append(element)
    const abort = new AbortController()
    let remove: (() => void) | undefined
    const end = (): void => {
      abort.abort()
      try {
        remove?.()
      } catch (error) {
        reportError(error)
      }
      remove = undefined
      element.remove()
    }
    const fail = (message: string, isPassing = false): void => {
      if (abort.signal.aborted) return
      end()
      setShown({ is: 'failed', message, isPassing })
    }
    let timer = 0
    const onActivity = (isWaiting: boolean): void => {
      clearTimeout(timer)
      if (abort.signal.aborted) return
      const expired = (): void => fail(t(isWaiting ? 'problems.unreachable' : 'part.silent'), true)
      timer = window.setTimeout(expired, isWaiting ? waitMs : silenceMs)
    }
    const mount = async (): Promise<void> => {
      onActivity(true)
      const isFrame = contribution.viewer?.trust === 'frame'
      const part = isFrame
        ? (await onDemand(() => import('../lib/frame-part.ts'))).framePart(contribution, fail)
        : await loadPart(contribution)
      if (abort.signal.aborted) return
      onActivity(false)
      const host = hostOf({
        contribution,
        thing: latest.current.thing,
        url,
        state: { get: () => latest.current.state.get(), set: value => latest.current.state.set(value) },
        navigate: to => void latest.current.navigate({ to } as never),
        signal: abort.signal,
        onActivity: isWaiting => remove === undefined && onActivity(isWaiting),
      })
      const removal: unknown = await part.mount(element, host)
      if (typeof removal !== 'function') throw new TypeError('mount returned no function')
      if (abort.signal.aborted) removal()
      else {
        remove = removal as () => void
        setShown({ is: 'mounted' })
      }
    }
    mount()
      .catch((error: unknown) => {
        if (abort.signal.aborted) return
        const message = messageFrom(error)
        // For the developer's console.
        if (message === t('part.broken')) reportError(error)
        fail(message, isRequestFailed(error))
      })
      .finally(() => clearTimeout(timer))
    return () => {
      clearTimeout(timer)
      end()
    }
  }, [contribution.id, contribution.module, kind, id, url, language, attempt])
  return (
    <div className="part" aria-busy={shown.is === 'loading'}>
      {shown.is === 'loading' && <Loading />}
      {shown.is === 'failed' && (
        <div role="alert" className="empty">
          <p>{shown.message}</p>
          {contribution.plugin !== 'web' && (
            <p className="help">{t('part.of', { title: contribution.title, plugin: contribution.plugin })}</p>
          )}
          {(download !== undefined || shown.isPassing) && (
            <div className="actions">
              {shown.isPassing && (
                <button type="button" className="button" onClick={() => setAttempt(attempt + 1)}>
                  {t('tryAgain')}
                </button>
              )}
              {download !== undefined && <DownloadLink url={download} name={thing.name} />}
            </div>
          )}
        </div>
      )}
      <div ref={box} />
    </div>
  )
}
