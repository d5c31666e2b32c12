interface ChoicesProps<Value> {
  readonly name: string
  readonly legend: string
  readonly choices: readonly { readonly value: Value; readonly label: string }[]
  readonly chosen: Value
  readonly onChoose: (value: Value) => void
}

export function Choices<Value extends string | number>({ name, legend, choices, chosen, onChoose }: ChoicesProps<Value>) {
  return (
    <fieldset class="choice">
      <legend class="quiet">{legend}</legend>
      {choices.map(({ value, label }) => (
        <label key={value}>
          <input type="radio" name={name} checked={value === chosen} onChange={() => onChoose(value)} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  )
}
