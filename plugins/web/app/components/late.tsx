import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { onDemand } from '../lib/on-demand.ts'
import { toastFailure } from './toasts.tsx'

interface Waiting {
  /** Until it is loaded. */
  readonly fallback?: ReactNode
  /** Instead of a message, if it cannot be loaded. */
  readonly failure?: (error: unknown) => ReactNode
}

/**
 * A component whose code is loaded when it is first rendered, or by `preload`. Unlike one of `React.lazy` it never fails its page, which may contain
 * unsaved text.
 */
export const late = <P extends object>(load: () => Promise<ComponentType<P>>) => {
  let loaded: ComponentType<P> | undefined
  let loading: Promise<void> | undefined
  const ready = (): Promise<void> => {
    loading ??= onDemand(load)
      .then(found => {
        loaded = found
      })
      .finally(() => {
        loading = undefined
      })
    return loading
  }
  const Late = ({ fallback = null, failure, ...props }: P & Waiting) => {
    const [, setLoaded] = useState(loaded !== undefined)
    const [error, setError] = useState<unknown>()
    useEffect(() => {
      if (loaded) {
        setLoaded(true)
        return undefined
      }
      let isCurrent = true
      ready().then(
        () => isCurrent && setLoaded(true),
        reason => isCurrent && setError(reason),
      )
      return () => {
        isCurrent = false
      }
    }, [])
    const isReported = error !== undefined && !failure
    useEffect(() => {
      if (isReported) toastFailure(error)
    }, [isReported, error])
    if (error !== undefined) return failure?.(error) ?? fallback
    const Loaded = loaded
    return Loaded ? <Loaded {...(props as unknown as P)} /> : fallback
  }
  /** Loads it before it is needed; never rejects. */
  const preload = (): Promise<void> => (loaded ? Promise.resolve() : ready().catch(() => undefined))
  return Object.assign(Late, { preload })
}
