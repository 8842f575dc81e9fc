import type { ReactNode } from 'react'
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button'
import {
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
  FieldError,
  Input,
  Label,
  Text,
  TextArea,
} from 'react-aria-components/TextField'
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip'
import { Icon } from './icon.tsx'
import type { IconName } from './icon-names.ts'

/** `filled`: the one main act of a page. `destroys`: cannot be undone. `quiet`: without an edge. */
export type ButtonLook = 'plain' | 'filled' | 'destroys' | 'quiet'

interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'style' | 'children'> {
  readonly look?: ButtonLook
  readonly icon?: IconName
  readonly children?: ReactNode
}

const classOf = (look: ButtonLook, isIconOnly = false): string =>
  ['button', look === 'plain' ? '' : look, isIconOnly ? 'icon' : ''].filter(Boolean).join(' ')

export const Button = ({ look = 'plain', icon, children, ...rest }: ButtonProps) => (
  <AriaButton {...rest} className={classOf(look)}>
    {icon && <Icon name={icon} />}
    {children}
  </AriaButton>
)

/** A button that shows an icon only; its label is read out and shown as a tooltip. */
export const IconButton = ({
  icon,
  label,
  look = 'quiet',
  ...rest
}: Omit<ButtonProps, 'children' | 'icon'> & { readonly icon: IconName; readonly label: string }) => (
  <TooltipTrigger delay={500}>
    <AriaButton {...rest} aria-label={label} className={classOf(look, true)}>
      <Icon name={icon} />
    </AriaButton>
    <Tooltip className="tooltip">{label}</Tooltip>
  </TooltipTrigger>
)

interface TextFieldProps extends Omit<AriaTextFieldProps, 'className' | 'style' | 'children'> {
  readonly label: string
  readonly help?: string
  /** What the server said about the value. */
  readonly error?: string | undefined
  readonly placeholder?: string
  readonly isLong?: boolean
}

/** A field of a form, with its label, help and error. */
export const TextField = ({ label, help, error, placeholder, isLong = false, ...rest }: TextFieldProps) => (
  <AriaTextField
    {...rest}
    isInvalid={error !== undefined || rest.isInvalid === true}
    // Browsers send no form with a field that is invalid, and what was refused may be accepted the next time.
    validationBehavior={error === undefined ? 'native' : 'aria'}
    className="field"
  >
    <Label>{label}</Label>
    {isLong ? (
      <TextArea className="input" {...(placeholder === undefined ? {} : { placeholder })} />
    ) : (
      <Input className="input" {...(placeholder === undefined ? {} : { placeholder })} />
    )}
    {help !== undefined && (
      <Text slot="description" className="help">
        {help}
      </Text>
    )}
    <FieldError className="error-text">{error}</FieldError>
  </AriaTextField>
)
