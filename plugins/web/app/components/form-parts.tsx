import type { ReactNode } from 'react'
import { Button } from './controls.tsx'

/** What the server refused, announced. */
export const FormError = ({ text }: { readonly text: string | undefined }) =>
  text === undefined ? null : (
    <p role="alert" className="error-text form-error">
      {text}
    </p>
  )

/** The one main act of a form. */
export const SubmitButton = ({ isBusy, children }: { readonly isBusy: boolean; readonly children: ReactNode }) => (
  <Button type="submit" look="filled" isPending={isBusy}>
    {children}
  </Button>
)
