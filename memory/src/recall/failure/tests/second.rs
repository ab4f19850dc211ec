//! A second project, of another kind than the one that the rules were tuned on.

use super::*;

/// Lessons that agents learned from failures there.
const DATA_LESSONS: [(&str, &str); 14] = [
    (
        "spark-submit dies on the dev cluster when executors get less than 4g",
        "Pass --executor-memory 4g; the container is killed by YARN otherwise.",
    ),
    (
        "dbt run must not be started while the Airflow DAG nightly_models is running",
        "Both take the lock on the warehouse schema and one fails with a deadlock.",
    ),
    (
        "Great Expectations checkpoints fail when S3 credentials come from SSO",
        "Run `aws sso login --profile data` first: ExpiredToken otherwise.",
    ),
    ("The GPU tests hang with CUDA 12.2", "Use the driver 535 image; 12.2 has a known NCCL bug."),
    (
        "pip resolves pandas 2.2 against numpy 2, which pyarrow 13 cannot load",
        "Pin numpy<2 in constraints.txt.",
    ),
    (
        "helm upgrade stays pending after a cancelled deploy",
        "helm rollback ingest 0, then upgrade again.",
    ),
    (
        "Kafka consumers in CI time out without the topic",
        "Create it: scripts/make_topics.sh before pytest.",
    ),
    (
        "jupyter kernels die on large parquet files",
        "read with columns=..., memory is limited to 8 GB",
    ),
    ("mlflow UI shows nothing when MLFLOW_TRACKING_URI has a trailing slash", ""),
    ("poetry lock takes 20 minutes because of torch", "use poetry lock --no-update"),
    ("terraform destroy of staging also removes the shared bucket", "never; use -target"),
    ("the scala build needs JDK 11", "sbt fails with UnsupportedClassVersionError on 17"),
    ("ansible-playbook cannot reach the bastion without ssh-agent", "ssh-add ~/.ssh/ops first"),
    ("protobuf python package 4 breaks tensorflow 2.9", "pin protobuf<3.21"),
];
const DATA_NOTES: [(&str, &str); 8] = [
    ("warehouse.schema", "analytics_v2; analytics is frozen"),
    ("airflow.url", "http://localhost:8793, login with admin/SSO"),
    ("feature-store", "Feast registry lives in s3://acme-feast/registry.db"),
    ("etl.retry", "Loads are retried three times, then land in the dead letter table etl_failed"),
    ("ci.runner", "CI runners have 2 cores and 7 GB of memory"),
    (
        "dvc.remote",
        "dvc pull needs the remote gs://acme-dvc and gcloud auth application-default login",
    ),
    ("style", "SQL keywords in lower case; one column a line"),
    ("owners", "Ann owns ingestion, Bo owns the models"),
];
const DATA_HELPED: [(&str, &str, &str); 14] = [
    (
        "spark-submit jobs/agg.py",
        "26/11/22 04:55:03 ERROR YarnScheduler: Lost executor 3 on node7: Container killed by YARN for exceeding memory limits. 2.1 GB of 2 GB physical memory used",
        "spark-submit dies",
    ),
    (
        "dbt run --select orders",
        "04:55:03  Database Error in model orders (models/orders.sql)\n04:55:03    deadlock detected\n04:55:03    DETAIL:  Process 123 waits for AccessExclusiveLock on relation 456\n04:55:03  Done. PASS=3 WARN=0 ERROR=1 SKIP=0 TOTAL=4",
        "dbt run must not",
    ),
    (
        "great_expectations checkpoint run daily",
        "botocore.exceptions.ClientError: An error occurred (ExpiredToken) when calling the GetObject operation: The provided token has expired.",
        "Great Expectations",
    ),
    (
        "pytest tests/gpu -x",
        "E   RuntimeError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1331, unhandled cuda error, NCCL version 2.18.3\nFAILED tests/gpu/test_allreduce.py::test_sum - RuntimeError: NCCL error",
        "The GPU tests hang",
    ),
    (
        "python etl/load.py",
        "Traceback (most recent call last):\n  File \"etl/load.py\", line 1, in <module>\n    import pyarrow\nImportError: numpy.core.multiarray failed to import (auto-generated because you didn't call 'numpy.import_array()' after cimporting numpy; pyarrow 13)",
        "pip resolves pandas",
    ),
    (
        "helm upgrade ingest charts/ingest",
        "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress",
        "helm upgrade stays pending",
    ),
    (
        "pytest tests/stream",
        "E   kafka.errors.KafkaTimeoutError: Failed to update metadata after 60.0 secs: topic orders not present\nFAILED tests/stream/test_consume.py::test_reads",
        "Kafka consumers",
    ),
    (
        "sbt assembly",
        "java.lang.UnsupportedClassVersionError: scala/tools/nsc/Main has been compiled by a more recent version of the Java Runtime (class file version 61.0)",
        "the scala build",
    ),
    (
        "ansible-playbook -i inv site.yml",
        "fatal: [db1]: UNREACHABLE! => {\"changed\": false, \"msg\": \"Failed to connect to the host via ssh: Permission denied (publickey). bastion.acme.io\", \"unreachable\": true}",
        "ansible-playbook cannot",
    ),
    (
        "python train.py",
        "Traceback (most recent call last):\n  File \"train.py\", line 2\nTypeError: Descriptors cannot be created directly. If this call came from a _pb2.py file, your generated code is out of date and must be regenerated with protoc >= 3.19.0. downgrade the protobuf package to 3.20.x",
        "protobuf python package",
    ),
    (
        "dvc pull",
        "ERROR: failed to pull data from the cloud - Checkout failed for following targets: data\nERROR: unexpected error - Anonymous caller does not have storage.objects.list access to gs://acme-dvc",
        "dvc.remote",
    ),
    (
        "psql $WAREHOUSE -c 'insert into analytics.orders select 1'",
        "ERROR:  permission denied for schema analytics\nHINT: analytics is frozen, use analytics_v2",
        "warehouse.schema",
    ),
    (
        "curl -sf localhost:8793/health",
        "curl: (7) Failed to connect to localhost port 8793 after 2 ms: Connection refused",
        "airflow.url",
    ),
    (
        "poetry lock",
        "Because torch (2.1) depends on triton (2.1.0) and no versions of triton match, torch is forbidden. So, version solving failed.",
        "poetry lock takes",
    ),
];
const DATA_SILENT: [(&str, &str); 16] = [
    ("cargo test", "thread 'parses' panicked at src/lib.rs:3:5:\nassertion `left == right` failed"),
    (
        "pytest tests/unit",
        "FAILED tests/unit/test_dates.py::test_quarter - AssertionError: assert 3 == 4",
    ),
    (
        "dbt run --select customers",
        "Database Error in model customers: column \"segmnt\" does not exist",
    ),
    (
        "python etl/report.py",
        "Traceback (most recent call last):\n  File \"etl/report.py\", line 9\nKeyError: 'total_amount_eur'",
    ),
    ("git rebase main", "CONFLICT (content): Merge conflict in models/orders.sql"),
    ("npm run build", "Error: Cannot find module '@acme/charts'"),
    (
        "helm lint charts/ingest",
        "[ERROR] templates/: parse error at (ingest/templates/deploy.yaml:12): unclosed action",
    ),
    ("terraform plan", "Error: Reference to undeclared input variable"),
    ("poetry add httpx", "Could not find a matching version of package httpx2"),
    (
        "docker build .",
        "ERROR: failed to solve: dockerfile parse error on line 4: unknown instruction: RUNN",
    ),
    (
        "spark-submit jobs/x.py",
        "python3: can't open file 'jobs/x.py': [Errno 2] No such file or directory",
    ),
    (
        "ansible-playbook site.yml --syntax-check",
        "ERROR! We were unable to read either as JSON nor YAML: mapping values are not allowed in this context",
    ),
    ("sbt test", "[error] /src/main/scala/Agg.scala:12:5: value mapp is not a member of Seq[Int]"),
    ("airflow dags list", "bash: line 1: airflow: command not found"),
    ("jupyter nbconvert a.ipynb", "jinja2.exceptions.TemplateNotFound: lab.html"),
    (
        "mypy etl",
        "etl/load.py:3: error: Argument 1 to \"read\" has incompatible type \"int\"; expected \"str\"",
    ),
];

fn data_memory() -> Memory {
    let mut memory = Memory::default();
    let lessons: Vec<Lesson> =
        DATA_LESSONS.iter().map(|(summary, detail)| lesson(summary, detail)).collect();
    save(&mut memory, &origin("one", 1), Staged { lessons, ..Staged::default() });
    for (key, content) in DATA_NOTES {
        let new = NewNote { key: Some(key.to_owned()), ..note(content) };
        let plan = plan_notes(&memory, &origin("two", 2), vec![Ok(new)]).unwrap();
        apply(&mut memory, plan);
    }
    memory
}

#[test]
fn most_known_failures_of_a_second_project_are_helped_and_no_others() {
    let memory = data_memory();
    let helped = DATA_HELPED.iter().filter(|(command, output, begins)| {
        let found = given(&memory, command, output);
        assert!(found.len() < 2, "{command}: {found:?}");
        found.first() == Some(&id(&memory, begins))
    });
    assert!(helped.count() >= 12);
    for (command, output) in DATA_SILENT {
        assert_eq!(given(&memory, command, output), [""; 0], "{command}: {output}");
    }
}
