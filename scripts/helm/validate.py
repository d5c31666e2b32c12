"""Reads {"versions": [...], "crds": {...}, "documents": [...]} from stdin, and prints a JSON list of the problems that the API schemas of these versions of Kubernetes find."""
import json
import sys

import jsonschema
import kubernetes_validate

# Refuses fields that a schema does not name, as Kubernetes does with --validate=strict.
def strict(schema):
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    if isinstance(made.get('properties'), dict) and 'additionalProperties' not in made and not made.get('x-kubernetes-preserve-unknown-fields'):
        made['additionalProperties'] = False
    return made

given = json.load(sys.stdin)
problems = []

def refuse(document, version, problem, path=()):
    name = document.get('metadata', {}).get('name')
    problems.append(f"{document.get('kind')}/{name} ({version}): {'/'.join(str(part) for part in path)} {problem}")

for document in given['documents']:
    key = f"{document.get('apiVersion')}/{document.get('kind')}"
    if key in given['crds']:
        for error in jsonschema.Draft202012Validator(strict(given['crds'][key]['spec'])).iter_errors(document.get('spec')):
            refuse(document, key, error.message, error.path)
        continue
    for version in given['versions']:
        try:
            kubernetes_validate.validate(document, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            refuse(document, version, error.message, error.path)
        except kubernetes_validate.SchemaNotFoundError as error:
            refuse(document, version, error.message)

json.dump(problems, sys.stdout)
