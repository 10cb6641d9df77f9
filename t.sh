# usage: t.sh BODY [HTML] : validate a body in /tmp/break32/one
d=/tmp/break32/one; mkdir -p $d/manifests/e; cp /tmp/break32/em/idops.yaml $d/; printf '%b' "$1" > $d/manifests/e/a.txt; printf '%b' "${2-$1}" > $d/manifests/e/a.html
printf 'kind: EmailTemplate\nbackend_id: 20000000-0000-4000-8000-000000000001\ntype: %s\ntxt_content: {file: e/a.txt}\nhtml_content: {file: e/a.html}\n' ${TYPE:-reset_password_instructions} > $d/manifests/e.yaml
cd $d; echo "=== $1 || ${2-same}"; IDOPS_TOKEN=abcdefgh idops validate 2>&1 | grep -E '^(error|warning|[0-9]| *= )' | grep -v -E "html-charset|errors?,|warnings?$"
