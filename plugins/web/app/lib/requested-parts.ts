import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { ViewedThing, ViewerHost } from '../viewers/host.ts'
import type { Contribution } from './contributions.ts'
import { hostOf, loadPart } from './viewer-host.ts'

/** A part that is shown if its module agrees. */
export interface RequestedPart {
  readonly key: string
  readonly contribution: Contribution
  readonly thing: ViewedThing
  /** URL of the bytes; empty where there are none. */
  readonly url: string
}

const noState: ViewerHost['state'] = { get: () => undefined, set: () => undefined }

/** Checks whether a module has anything to show; a module that fails reports its error when it is mounted. */
const canShow = async ({ contribution, thing, url }: RequestedPart): Promise<boolean> => {
  try {
    const part = await loadPart(contribution)
    if (!part.canShow) return true
    const { signal } = new AbortController()
    const host = hostOf({ contribution, thing, url, state: noState, navigate: () => undefined, signal, onActivity: () => undefined })
    return await part.canShow(thing, host)
  } catch {
    return true
  }
}

/** Viewers declare whether their module must be loaded to decide; tabs, panels and actions are few, and always checked. */
const isOffered = ({ contribution: { viewer } }: RequestedPart): boolean => viewer !== undefined && viewer.asks !== true

/** Parts without those that decline, checked in order; undefined until the first is found. Those that are added later do not hide it while they are checked. */
export const useRequestedParts = <P extends RequestedPart>(parts: readonly P[]): readonly P[] | undefined => {
  const [answers, setAnswers] = useState<ReadonlyMap<string, boolean>>(new Map())
  const checked = useRef(new Set<string>())
  const isFound = useRef(false)
  useEffect(() => {
    const ask = async (): Promise<void> => {
      for (const one of parts) {
        if (checked.current.has(one.key)) continue
        checked.current.add(one.key)
        const answer = isOffered(one) || (await canShow(one))
        setAnswers(known => new Map(known).set(one.key, answer))
      }
    }
    void ask()
  }, [parts])
  const first = parts.find(({ key }) => answers.get(key) !== false)
  isFound.current ||= first !== undefined && answers.has(first.key)
  return isFound.current || first === undefined ? parts.filter(({ key }) => answers.get(key)) : undefined
}

/** A value in the URL, written at most a few times a second: browsers limit how often it may change. */
export const useAddressState = (name = 'view'): ViewerHost['state'] => {
  const { [name]: view } = useSearch({ strict: false }) as Readonly<Record<string, string>>
  const navigate = useNavigate()
  const latest = useRef(view)
  latest.current = view
  const timer = useRef(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  return useMemo(
    () => ({
      get: () => latest.current,
      set: value => {
        latest.current = value
        clearTimeout(timer.current)
        timer.current = window.setTimeout(() => {
          void navigate({
            search: (search: Readonly<Record<string, unknown>>) => ({ ...search, [name]: value }),
            replace: true,
            resetScroll: false,
          } as never)
        }, 250)
      },
    }),
    [navigate, name],
  )
}
