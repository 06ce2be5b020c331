#!/bin/sh
# Adds to the current kubeconfig a cluster "clusterpedia" (the whole fleet) and one for each
# PediaCluster, so that `kubectl --cluster clusterpedia get pods -A` and `kubectl --cluster NAME …`
# work with the current context's user.
#
# Needs kubectl and a POSIX shell, nothing else. The current context may point at fleetglass itself
# or at a management cluster that aggregates it; where fleetglass says that it is reached past the
# aggregator (--advertise-direct-url), that address is written. An entry that points elsewhere is
# left as it is.
set -eu

FLEET_PATH=/apis/clusterpedia.io/v1beta1/resources

fail() {
  printf 'error: %s\n' "$1" >&2
  exit 1
}

# $1: a field of the current context's cluster. --flatten reads a CA from the file it may be in.
current_cluster() {
  kubectl config view --minify --flatten --raw -o "jsonpath={.clusters[0].cluster.$1}"
}

# $1: the name of an entry. Prints where it points, or nothing.
server_of() {
  kubectl config view --raw -o "jsonpath={.clusters[?(@.name==\"$1\")].cluster.server}"
}

# $1: a path within the entries that fleetglass itself would write for this user. From a file: a
# kubectl that starts another one, as that of the Google Cloud SDK does, reads a pipe empty for it.
offered() {
  kubectl --kubeconfig="$offer_file" config view --raw -o "jsonpath=$1"
}

# $1: the name of the entry, $2: its server. Sets everything else as root, CA and so on say.
add_cluster() {
  found=$(server_of "$1")
  if [ -n "$found" ] && [ "$found" != "$2" ]; then
    printf 'cluster "%s" is left as it is: it points at %s\n' "$1" "$found" >&2
    return 0
  fi
  set -- "$1" --server="$2" --insecure-skip-tls-verify="$insecure"
  if [ -n "$tls_server_name" ]; then set -- "$@" --tls-server-name="$tls_server_name"; fi
  if [ -n "$proxy_url" ]; then set -- "$@" --proxy-url="$proxy_url"; fi
  kubectl config set-cluster "$@" >/dev/null
  if [ "$insecure" != true ] && [ -n "$ca_data" ]; then
    kubectl config set "clusters.$1.certificate-authority-data" "$ca_data" >/dev/null
  fi
  printf 'cluster "%s" is set\n' "$1"
}

command -v kubectl >/dev/null 2>&1 || fail 'kubectl is not on the PATH'
kubectl config current-context >/dev/null 2>&1 ||
  fail 'the kubeconfig has no current context; choose one with: kubectl config use-context NAME'

server=$(current_cluster server)
[ -n "$server" ] || fail "the current context's cluster has no server"
# The current context may be one of those that this script is for.
root=${server%%"$FLEET_PATH"*}
root=${root%/}
ca_data=$(current_cluster certificate-authority-data)
tls_server_name=$(current_cluster tls-server-name)
insecure=$(current_cluster insecure-skip-tls-verify)
insecure=${insecure:-false}
proxy_url=$(current_cluster proxy-url)

# Before anything is written: whoever may not ask gets kubectl's own words and no half result.
# Clusterpedia itself offers nothing; a reader who may not list PediaClusters is offered theirs.
offer=$(kubectl --server="$root" get --raw "$FLEET_PATH/kubeconfig" 2>/dev/null) || offer=
if [ -n "$offer" ]; then
  offer_file=$(mktemp)
  trap 'rm -f "$offer_file"' EXIT
  trap 'exit 1' HUP INT TERM
  printf '%s\n' "$offer" >"$offer_file"
  names=$(kubectl --server="$root" get pediaclusters.cluster.clusterpedia.io \
    -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}' 2>/dev/null) ||
    names=$(offered '{range .clusters[*]}{.name}{"\n"}{end}')
  direct=$(offered '{.clusters[?(@.name=="clusterpedia")].cluster.server}')
else
  names=$(kubectl --server="$root" get pediaclusters.cluster.clusterpedia.io \
    -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}')
  direct=
fi
if [ -n "$direct" ]; then
  # Another server than that of the current context, with a certificate of its own.
  root=${direct%%"$FLEET_PATH"*}
  ca_data=$(offered '{.clusters[?(@.name=="clusterpedia")].cluster.certificate-authority-data}')
  tls_server_name=
  insecure=false
fi

add_cluster clusterpedia "$root$FLEET_PATH"
for name in $names; do
  [ "$name" = clusterpedia ] || add_cluster "$name" "$root$FLEET_PATH/clusters/$name"
done
